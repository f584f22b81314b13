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

    private static func error(_ data: Data) -> ImageCodingError? {
        do {
            _ = try Image.decoding(data).bitmap()
            return nil
        } catch {
            return error as? ImageCodingError
        }
    }

    private static let rectangle = "<rect width='9' height='9'/>"

    private static let tooMany = ImageCodingError.tooComplex(
        .SVG, reason: "it has more than \(SVGOutline.mostElements) elements")

    /// Drawings that are the same thing again and again, and the number of times that is too much.
    static let multiplied: [(name: String, drawing: @Sendable (Int) -> String, times: Int)] = [
        ("elements", { String(repeating: "<b/>", count: $0) }, SVGOutline.mostElements),
        (
            "copies of copies",
            { levels in
                let groups = (1...levels).map { level in
                    let copies = String(repeating: "<use href='#a\(level - 1)'/>", count: 10)
                    return "<g id='a\(level)'>\(copies)</g>"
                }.joined()
                return "<defs><g id='a0'>\(rectangle)</g>\(groups)</defs><use href='#a\(levels)'/>"
            }, 9
        ),
        (
            "feImage of what has feImage",
            { levels in
                "<g id='a0'><path d='M0 0'/></g>"
                    + (1...levels).map { level in
                        let images = String(repeating: "<feImage href='#a\(level - 1)'/>", count: 4)
                        return "<filter id='f\(level)'>\(images)</filter>"
                            + "<g id='a\(level)' filter='url(#f\(level))'/>"
                    }.joined()
            }, 12
        ),
        (
            "patterns that copies are filled with",
            { count in
                let rects = String(repeating: rectangle, count: 100)
                let copies = String(repeating: "<use href='#r'/>", count: count)
                return "<pattern id='q'>\(rects)</pattern><pattern id='p' href='#q'/>"
                    + "<defs><rect id='r' fill='url(#p)'/></defs><g>\(copies)</g>"
            }, 8_000
        ),
        (
            "markers of a style sheet",
            { count in
                let rects = String(repeating: rectangle, count: 100)
                return "<style>g > path.a:hover, .b {marker-mid: url(#m)}</style>"
                    + "<marker id='m'>\(rects)</marker>"
                    + String(repeating: "<path class='x a' d='M0 0l1 1'/>", count: count)
            }, 8_000
        ),
        (
            "masks of what is masked",
            { levels in
                (0..<levels).map { level in
                    let groups = String(
                        repeating: "<g style='mask:url(#m\(level + 1))'/>", count: 10)
                    return "<mask id='m\(level)'>\(groups)</mask>"
                }.joined() + "<g mask='url(#m0)'/>"
            }, 9
        ),
        (
            "a circle with much in it",
            { count in
                let rects = String(repeating: rectangle, count: 1000)
                let copies = String(repeating: "<use href='#b'/>", count: count)
                return "<g id='a'>\(rects)<use href='#b'/></g><g id='b'><use href='#a'/></g>"
                    + copies
            }, 500
        ),
    ]

    @Test(arguments: multiplied.indices)
    func countsWhatIsDrawnAgainAndAgain(_ index: Int) {
        let (name, drawing, times) = Self.multiplied[index]
        #expect(Self.error(Self.svg(drawing(times))) == Self.tooMany, "\(name)")
        #expect(Self.error(Self.svg(drawing(2))) == nil, "\(name)")
    }

    @Test func manyShapesShareAGradientOfManyColours() throws {
        let stops = String(repeating: "<stop stop-color='red'/>", count: 100)
        let shapes = String(repeating: "<rect fill='url(#p)'/>", count: 10_000)
        let gradients =
            "<linearGradient id='q'>\(stops)</linearGradient><linearGradient id='p' href='#q'/>"
        #expect(try SVGDocument(Self.svg(gradients + shapes)).drawnCount < 30_000)
    }

    @Test func endsWithThingsThatReferToThemselves() throws {
        let loop = "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>\(Self.rectangle)"
        #expect(try SVGDocument(Self.svg(loop)).drawnCount < 20)
        let bitmap = try Image.decoding(Self.svg(loop)).bitmap()
        #expect(bitmap.samples(4, 4) == [0, 0, 0, 255])
    }

    @Test func aChainOfReferencesHasAnEnd() {
        let chain = (0..<1000).map { "<g id='a\($0)'><use href='#a\($0 + 1)'/></g>" }.joined()
        #expect(Self.error(Self.svg("<defs>\(chain)</defs><use href='#a0'/>")) == Self.tooMany)
    }

    @Test func refusesDeepNesting() {
        func nested(_ depth: Int) -> Data {
            Self.svg(
                String(repeating: "<g>", count: depth) + String(repeating: "</g>", count: depth))
        }
        let most = SVGOutline.deepestNesting
        // As many as every librsvg draws; newer ones draw no more.
        #expect(Self.error(nested(48)) == nil)
        let error = Self.error(nested(most - 1))
        #expect(
            error == nil || error == .tooComplex(.SVG, reason: VipsError.drawingRefused))
        #expect(
            Self.error(nested(most))
                == .tooComplex(.SVG, reason: "its elements are nested deeper than \(most)"))
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
