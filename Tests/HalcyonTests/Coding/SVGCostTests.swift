import Foundation
import HalcyonTestKit
import Testing
import Vips

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

    private static let tooMany = ImageCodingError.tooComplex(
        .SVG, reason: "it has more than \(SVGOutline.mostElements) elements")

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

    /// Pairs of a drawing that is the same thing again and again, and the number of times that is too much.
    static let multiplied: [(name: String, drawing: @Sendable (Int) -> String, times: Int)] = [
        (
            "feImage of what has feImage",
            { levels in
                "<g id='a0'><path d='M0 0'/></g>"
                    + (1...levels).map { level in
                        let images = String(repeating: "<feImage href='#a\(level - 1)'/>", count: 4)
                        return "<filter id='f\(level)'>\(images)</filter>"
                            + "<g id='a\(level)' filter='url(#f\(level))'/>"
                    }.joined()
            }, 6
        ),
        (
            "markers of what has markers",
            { count in
                let path = "d='M0 0\(String(repeating: "l1 1", count: count))'"
                let rects = String(repeating: Self.rectangle(""), count: 100)
                return "<marker id='a'>\(rects)</marker>"
                    + "<marker id='b'><path \(path) marker-mid='url(#a)'/></marker>"
                    + "<path \(path) style='marker-mid: url(#b)'/>"
            }, 400
        ),
        (
            "markers that a group hands down",
            { count in
                let points = String(repeating: "1,1 ", count: count)
                return "<marker id='m'>\(Self.rectangle(""))</marker>"
                    + "<g marker-start='url(#m)'><polyline points='\(points)'/></g>"
            }, 200_000
        ),
        (
            "patterns that a group hands down to copies",
            { count in
                let rects = String(repeating: Self.rectangle(""), count: 100)
                let copies = String(repeating: "<use href='#r'/>", count: count)
                return "<pattern id='q'>\(rects)</pattern><pattern id='p' href='#q'/>"
                    + "<defs><rect id='r'/></defs><g fill='url(#p)'>\(copies)</g>"
            }, 8_000
        ),
        (
            "a marker of a style sheet",
            { count in
                let rects = String(repeating: Self.rectangle(""), count: 100)
                return "<style>g > path.a:hover, .b {marker-mid: url(#m)}</style>"
                    + "<marker id='m'>\(rects)</marker>"
                    + "<path class='x a' d='M0 0\(String(repeating: "l1 1", count: count))'/>"
            }, 8_000
        ),
        (
            "a circle with much in it",
            { count in
                let rects = String(repeating: Self.rectangle(""), count: 1000)
                let copies = String(repeating: "<use href='#b'/>", count: count)
                return "<g id='a'>\(rects)<use href='#b'/></g><g id='b'><use href='#a'/></g>"
                    + copies
            }, 500
        ),
        (
            "masks", { "<mask id='m'/>" + String(repeating: "<g mask='url(#m)'/>", count: $0) },
            15_000
        ),
        (
            "blended groups",
            { String(repeating: "<g style='mix-blend-mode: multiply'/>", count: $0) }, 10_000
        ),
        ("letters of one text", { "<text>\(String(repeating: "a", count: $0))</text>" }, 30_000),
        (
            "letters of many scripts",
            { count in
                let letters = (0..<count).compactMap { Unicode.Scalar(0x4E00 + $0) }
                return "<text>\(String(String.UnicodeScalarView(letters)))</text>"
            }, 12_000
        ),
    ]

    @Test(arguments: multiplied.indices)
    func countsWhatIsDrawnAgainAndAgain(_ index: Int) {
        let (name, drawing, times) = Self.multiplied[index]
        let error = Self.error(Self.svg(drawing(times), size: 300))
        #expect(error == .tooSlow(limit: .seconds(30)) || error == Self.tooMany, "\(name)")
        #expect(Self.error(Self.svg(drawing(2), size: 300)) == nil, "\(name)")
    }

    @Test func aFilterOfAClassIsThatOfItsElements() {
        let shadow = "<filter id='s'><feGaussianBlur stdDeviation='3'/></filter>"
        let style = "<style>.shadow {filter: url(#s)} @media all {.none {fill: red}}</style>"
        let others = String(repeating: Self.rectangle("class='none'"), count: 1000)
        let body = style + shadow + others + Self.rectangle("class='none shadow'")
        #expect(Self.error(Self.svg(body)) == nil)
    }

    @Test func aDrawingInLargeUnitsHasLargeFilters() {
        let body = "<filter id='f'><feMorphology radius='1'/></filter><g filter='url(#f)'/>"
        func svg(_ side: Int) -> Data {
            Data(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="1000" height="1000" \
                viewBox="0 0 \(side) \(side)">\(body)</svg>
                """.utf8)
        }
        #expect(Self.error(svg(1000)) == nil)
        #expect(Self.error(svg(10)) == .tooSlow(limit: .seconds(30)))
    }

    @Test func anEntityMayStandForAReference() {
        let filter = "<filter id='f'>\(Self.slow["a wide step"] ?? "")</filter>"
        let hidden = "<!DOCTYPE svg [<!ENTITY e 'url(#f)'>]>"
        let plain = "<!DOCTYPE svg [<!ENTITY e 'red'>]>"
        let body = filter + Self.rectangle("style='filter: &e;; font-family: &quot;a&quot;'")
        #expect(Self.error(Self.svg(body, before: hidden)) == .tooSlow(limit: .seconds(30)))
        #expect(Self.error(Self.svg(body, before: plain)) == nil)
    }

    @Test(arguments: [
        ("M0 0L1 1", 2), ("M0,0 1,1 2-2", 3), ("m.5.5.5.5z", 3), ("M1e-2 1e+2h1 2 3v4", 5),
        ("M0 0c1 1 1 1 1 1 2 2 2 2 2 2", 3), ("M0 0a1 1 0 01 2 2", 3), ("", 0), ("1,1 2,2", 2),
    ])
    func countsVertices(_ path: String, _ count: Int) {
        // Rather too many than too few.
        #expect(count...count + 1 ~= SVGVertices.count(in: path))
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
        #expect(Self.error(bomb) == Self.tooMany)
        let many = Self.svg(String(repeating: "<b/>", count: SVGOutline.mostElements + 1))
        #expect(Self.error(many) == Self.tooMany)
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
        #expect(Self.error(Self.svg(Self.rectangle(""), before: names)) == nil)
    }

    @Test func looksPastCommentsAndText() {
        let hidden = "<!-- <g filter='url(#f)'> --><text><![CDATA[<g filter='url(#f)'>]]></text>"
        let filter = "<filter id='f'>\(Self.slow["a wide step"] ?? "")</filter>"
        #expect(Self.error(Self.svg(filter + hidden)) == nil)
    }

    /// `count` of them, by copies of copies.
    private static func many(_ shape: String, _ count: Int) -> String {
        var text = "<defs><g id='g0'>\(shape)</g>"
        var (level, reached) = (0, 1)
        while reached * 20 <= count {
            level += 1
            reached *= 20
            let copies = String(repeating: "<use xlink:href='#g\(level - 1)'/>", count: 20)
            text += "<g id='g\(level)'>\(copies)</g>"
        }
        return text + "</defs>"
            + String(repeating: "<use xlink:href='#g\(level)'/>", count: count / reached)
    }

    @Test(arguments: [
        "<rect width='4000' height='4000' fill='red' fill-opacity='.5'/>",
        "<circle cx='2000' cy='2000' r='3000'/>",
        "<linearGradient id='p'><stop stop-color='red'/><stop offset='1'/></linearGradient>"
            + "<path d='M0 0h4e3v4e3h-4e3z' fill='url(#p)'/>",
    ])
    func refusesMoreLargeShapesThanCanBePainted(_ shape: String) {
        let drawing = Self.svg(Self.many(shape, 64_000), size: 4000)
        #expect(Self.error(drawing) == .tooSlow(limit: .seconds(30)))
    }

    @Test func paintsManySmallShapesInALargeDrawing() {
        let shapes = (0..<8000).map { index in
            "<rect x='\(index * 17 % 2000)' y='\(index * 31 % 2000)' width='9' height='9'/>"
        }
        #expect(Self.error(Self.svg(shapes.joined(), size: 2000)) == nil)
        // As thin as it is, it can be drawn.
        #expect(Self.error(Data("<svg width='3000' height='1'><rect/></svg>".utf8)) == nil)
    }

    @Test func endsWithThingsThatReferToThemselves() throws {
        let loop = "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>"
        // Whatever comes of it.
        _ = Self.error(Self.svg(loop))
        #expect(
            try SVGDocument(Self.svg(loop)).cost.duration(drawnAt: PixelSize(width: 10, height: 10))
                < .seconds(1))
    }

    @Test(arguments: [
        "<g transform='scale(1e999)'><rect width='1' height='1'/></g>",
        "<filter id='f'><feMorphology radius='1e999 0'/></filter><g filter='url(#f)'><rect/></g>",
        String(repeating: "<g transform='scale(1e300)'>", count: 20) + "<feImage/>"
            + String(repeating: "</g>", count: 20),
        "<g transform='matrix(-1e999 1e999 0 0 0 0)' opacity='.5'><text>a</text></g>",
    ])
    func numbersWithoutEndAreALongTime(_ drawing: String) throws {
        let size = PixelSize(width: 1000, height: 1000)
        for box in ["viewBox='0 0 1e-320 1e-320'", "viewBox='0 0 1e999 1'", "width='9'"] {
            let cost = try SVGDocument(Data("<svg \(box)>\(drawing)</svg>".utf8)).cost
            #expect(cost.duration(drawnAt: size) <= .seconds(1_000_000_000))
            #expect(cost.memory(drawnAt: size) > 0)
        }
    }
}
