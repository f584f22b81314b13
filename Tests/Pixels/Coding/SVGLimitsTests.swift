import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Drawings beyond the limits of elements and depth.
struct SVGLimitsTests {
    private static func svg(_ body: String, before: String = "") -> Data {
        Data(
            """
            \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            width="300" height="300">\(body)</svg>
            """.utf8)
    }

    private static func error(_ data: Data) -> ImageCodingError? { SVGDocumentTests.error(data) }

    private static let rectangle = "<rect width='9' height='9'/>"

    private static let tooMany = ImageCodingError.tooComplex(
        .SVG, reason: "it has more than \(SVGOutline.mostElements) elements")

    /// Drawings that are the same thing again and again, and the number of times that is too much.
    static let multiplied: [(name: String, drawing: @Sendable (Int) -> String, times: Int)] = [
        ("elements", { repeated("<b/>", $0) }, SVGOutline.mostElements),
        (
            "copies of copies",
            { levels in
                let groups = (1...levels).map {
                    "<g id='a\($0)'>\(repeated("<use href='#a\($0 - 1)'/>", 10))</g>"
                }.joined()
                return "<defs><g id='a0'>\(rectangle)</g>\(groups)</defs><use href='#a\(levels)'/>"
            }, 9
        ),
        (
            "feImage of what has feImage",
            { levels in
                let groups = (1...levels).map {
                    """
                    <filter id='f\($0)'>\(repeated("<feImage href='#a\($0 - 1)'/>", 4))</filter>\
                    <g id='a\($0)' filter='url(#f\($0))'/>
                    """
                }.joined()
                return "<g id='a0'><path d='M0 0'/></g>\(groups)"
            }, 12
        ),
        (
            "patterns that copies are filled with",
            { count in
                """
                <pattern id='q'>\(repeated(rectangle, 100))</pattern><pattern id='p' href='#q'/>\
                <defs><rect id='r' fill='url(#p)'/></defs>\
                <g>\(repeated("<use href='#r'/>", count))</g>
                """
            }, 8_000
        ),
        (
            "markers of a style sheet",
            { count in
                """
                <style>g > path.a:hover, .b {marker-mid: url(#m)}</style>\
                <marker id='m'>\(repeated(rectangle, 100))</marker>\
                \(repeated("<path class='x a' d='M0 0l1 1'/>", count))
                """
            }, 8_000
        ),
        (
            "masks of what is masked",
            { levels in
                let masks = (0..<levels).map {
                    "<mask id='m\($0)'>\(repeated("<g style='mask:url(#m\($0 + 1))'/>", 10))</mask>"
                }.joined()
                return "\(masks)<g mask='url(#m0)'/>"
            }, 9
        ),
        (
            "a circle with much in it",
            { count in
                """
                <g id='a'>\(repeated(rectangle, 1000))<use href='#b'/></g>\
                <g id='b'><use href='#a'/></g>\(repeated("<use href='#b'/>", count))
                """
            }, 500
        ),
    ]

    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    @Test(arguments: multiplied.indices)
    func countsWhatIsDrawnAgainAndAgain(_ index: Int) {
        let (name, drawing, times) = Self.multiplied[index]
        #expect(Self.error(Self.svg(drawing(times))) == Self.tooMany, "\(name)")
        #expect(Self.error(Self.svg(drawing(2))) == nil, "\(name)")
    }

    @Test func manyShapesShareAGradientOfManyColours() throws {
        let stops = Self.repeated("<stop stop-color='red'/>", 100)
        let gradients =
            "<linearGradient id='q'>\(stops)</linearGradient><linearGradient id='p' href='#q'/>"
        let drawing = Self.svg(gradients + Self.repeated("<rect fill='url(#p)'/>", 10_000))
        #expect(try SVGDocument(drawing).drawnCount < 30_000)
    }

    @Test func endsWithThingsThatReferToThemselves() throws {
        let loop = Self.svg(
            "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>\(Self.rectangle)")
        #expect(try SVGDocument(loop).drawnCount < 20)
        #expect(try decoded(loop).samples(4, 4) == [0, 0, 0, 255])
    }

    @Test func aChainOfReferencesHasAnEnd() {
        let chain = (0..<1000).map { "<g id='a\($0)'><use href='#a\($0 + 1)'/></g>" }.joined()
        #expect(Self.error(Self.svg("<defs>\(chain)</defs><use href='#a0'/>")) == Self.tooMany)
    }

    @Test func refusesDeepNesting() {
        func error(_ depth: Int) -> ImageCodingError? {
            Self.error(Self.svg(Self.repeated("<g>", depth) + Self.repeated("</g>", depth)))
        }
        let most = SVGOutline.deepestNesting
        // As many as every librsvg draws; newer ones draw no more.
        #expect(error(48) == nil)
        let deep = error(most - 1)
        #expect(deep == nil || deep == .tooComplex(.SVG, reason: VipsError.drawingRefused))
        let reason = "its elements are nested deeper than \(most)"
        #expect(error(most) == .tooComplex(.SVG, reason: reason))
    }

    @Test func refusesEntitiesThatStandForElements() {
        let reason = "it defines entities that stand for elements or files"
        for value in ["'<g/>'", "'&#60;g/>'", "'&#x3C;g/>'", "SYSTEM 'file:///etc/passwd'"] {
            let data = Self.svg("&e;", before: "<!DOCTYPE svg [<!ENTITY e \(value)>]>")
            #expect(Self.error(data) == .tooComplex(.SVG, reason: reason), "\(value)")
        }
        // As some programs write it.
        let names = "<!DOCTYPE svg [<!ENTITY ns_svg 'http://www.w3.org/2000/svg'>]>"
        #expect(Self.error(Self.svg(Self.rectangle, before: names)) == nil)
    }

    @Test func filtersThatAreDrawnTakeMemory() throws {
        let size = PixelSize(width: 3000, height: 3000)
        let filter = "<filter id='f'><feGaussianBlur stdDeviation='3'/></filter>"
        let memory = try [
            filter + Self.rectangle, filter + "<g filter='url(#f)'>\(Self.rectangle)</g>",
        ].map { try SVGDocument(Self.svg($0)).memory(drawnAt: size) }
        #expect(memory[0] > 0 && memory[1] >= memory[0] + 4 * size.pixelCount)
    }
}
