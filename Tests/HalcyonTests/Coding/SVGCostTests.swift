import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

/// What is not drawn because nothing could stop it.
struct SVGCostTests {
    private static func svg(_ body: String, size: Int = 1000, before: String = "") -> Data {
        Data(
            """
            \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            width="\(size)" height="\(size)">\(body)</svg>
            """.utf8)
    }

    private static func rectangle(_ attributes: String) -> String {
        "<rect \(attributes) width=\"9\" height=\"9\"/>"
    }

    private static func error(_ data: Data) -> ImageCodingError? {
        do {
            _ = try Image.decoding(data).bitmap()
            return nil
        } catch {
            return error as? ImageCodingError
        }
    }

    static let slow = [
        "many steps": String(repeating: "<feGaussianBlur stdDeviation='9'/>", count: 30),
        "a wide step": "<feMorphology radius='50'/>",
        "turbulence": "<feTurbulence baseFrequency='1' numOctaves='90'/>",
        "a large matrix": "<feConvolveMatrix order='100' kernelMatrix='1'/>",
    ]

    @Test(arguments: slow.values.sorted())
    func refusesFiltersThatTakeTooLong(_ steps: String) {
        let filter = "<filter id='f'>\(steps)</filter>"
        let uses = [
            Self.rectangle("filter=\"url(#f)\""), Self.rectangle("style='filter: url(\"#f\")'"),
            "<g filter='url(#f)'/>",
            "<defs><g id='g' filter='url(#f)'/></defs><use xlink:href='#g'/>",
            "<pattern id='p'><g filter='url(#f)'/></pattern>" + Self.rectangle("fill='url(#p)'"),
        ]
        for use in uses {
            let data = Self.svg(filter + use)
            #expect(Self.error(data) == .tooSlow(limit: .seconds(30)), "\(use)")
        }
        let styled = "<style>.a { filter: url(#f) }</style>" + Self.rectangle("class='a'")
        #expect(Self.error(Self.svg(filter + styled)) == .tooSlow(limit: .seconds(30)))
        // Nobody uses it.
        #expect(Self.error(Self.svg(filter + Self.rectangle(""))) == nil)
    }

    @Test func countsWhatIsEnlarged() {
        let filter = "<filter id='f'><feMorphology radius='1'/></filter>"
        let plain = "<g filter='url(#f)'/>"
        #expect(Self.error(Self.svg(filter + plain)) == nil)
        let enlarged = "<g transform='scale(9)'><g transform='matrix(9 0 0 9 1 1)'>\(plain)</g></g>"
        #expect(Self.error(Self.svg(filter + enlarged)) == .tooSlow(limit: .seconds(30)))
    }

    @Test func drawsASmallPictureOfWhatIsTooSlowWhenLarge() throws {
        let steps = String(repeating: "<feGaussianBlur stdDeviation='9'/>", count: 30)
        let data = Self.svg("<filter id='f'>\(steps)</filter>" + Self.rectangle("filter='url(#f)'"))
        let small = try Image.decoding(data).kf.downsampled(
            toPixels: PixelSize(width: 50, height: 50))
        #expect(try small.bitmap().size == PixelSize(width: 50, height: 50))
    }

    @Test func drawsOrdinaryFilters() {
        let shadow = """
            <filter id='s'><feGaussianBlur in='SourceAlpha' stdDeviation='3' result='b'/>\
            <feOffset dx='2' dy='2'/><feMerge><feMergeNode/><feMergeNode in='SourceGraphic'/>\
            </feMerge></filter>
            """
        #expect(Self.error(Self.svg(shadow + Self.rectangle("filter='url(#s)'"))) == nil)
    }

    @Test func refusesTooManyElementsWrittenOrCopied() {
        var body = "<defs><g id='a0'><path d='M0 0'/></g>"
        for level in 1...9 {
            let uses = String(repeating: "<use href='#a\(level - 1)'/>", count: 10)
            body += "<g id='a\(level)'>\(uses)</g>"
        }
        let bomb = Self.svg(body + "</defs><use href='#a9'/>")
        #expect(
            Self.error(bomb)
                == .unsupported(.SVG, reason: "it has more than \(SVGCost.mostElements) elements"))
        let many = Self.svg(String(repeating: "<b/>", count: SVGCost.mostElements + 1))
        #expect(Self.error(many) == Self.error(bomb))
    }

    @Test func refusesDeepNesting() {
        func nested(_ depth: Int) -> Data {
            Self.svg(
                String(repeating: "<g>", count: depth) + String(repeating: "</g>", count: depth))
        }
        #expect(Self.error(nested(SVGCost.deepestNesting - 1)) == nil)
        #expect(
            Self.error(nested(SVGCost.deepestNesting))
                == .unsupported(
                    .SVG,
                    reason: "its elements are nested \(SVGCost.deepestNesting + 1) deep; "
                        + "the limit is \(SVGCost.deepestNesting)"))
    }

    @Test func refusesEntitiesThatStandForElements() {
        let reason = "it defines entities that stand for elements or files"
        for value in ["'<g/>'", "'&#60;g/>'", "'&#x3C;g/>'", "SYSTEM 'file:///etc/passwd'"] {
            let data = Self.svg("&e;", before: "<!DOCTYPE svg [<!ENTITY e \(value)>]>")
            #expect(Self.error(data) == .unsupported(.SVG, reason: reason), "\(value)")
        }
        // As some programs write it.
        let names = "<!DOCTYPE svg [<!ENTITY ns_svg 'http://www.w3.org/2000/svg'>]>"
        #expect(Self.error(Self.svg(Self.rectangle(""), before: names)) == nil)
    }

    @Test func looksPastCommentsAndText() {
        let hidden = "<!-- <g filter='url(#f)'> --><text><![CDATA[<g filter='url(#f)'>]]></text>"
        let filter = "<filter id='f'>\(Self.slow["a wide step"] ?? "")</filter>"
        #expect(Self.error(Self.svg(filter + hidden)) == nil)
    }

    @Test func endsWithThingsThatReferToThemselves() {
        let loop = "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>"
        // Whatever comes of it.
        _ = Self.error(Self.svg(loop))
        #expect(
            SVGCost(Self.svg(loop)).duration(drawnAt: PixelSize(width: 10, height: 10))
                < .seconds(1))
    }
}
