import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

/// Drawings that are written in such a way that another reader could take them for something else.
struct SVGDocumentTests {
    private static let steps = String(repeating: "<feGaussianBlur stdDeviation='9'/>", count: 30)
    private static let filter = "<filter id='f'>\(steps)</filter>"

    private static func svg(_ body: String, before: String = "") -> String {
        """
        \(before)<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
        xmlns:x="http://example.com/x" width="1000" height="1000">\(body)</svg>
        """
    }

    static func error(_ data: Data, limits: DecodingLimits = .default) -> ImageCodingError? {
        do {
            _ = try decoded(data, limits: limits)
            return nil
        } catch {
            return error as? ImageCodingError
        }
    }

    private static func error(_ body: String, before: String = "") -> ImageCodingError? {
        error(Data(svg(body, before: before).utf8))
    }

    /// Whether the steps of the filter are among what is drawn.
    private static func drawsSteps(_ body: String, before: String = "") throws -> Bool {
        try SVGDocument(Data(svg(body, before: before).utf8)).drawnCount > 30
    }

    // MARK: References

    /// Attributes with which the filter is used.
    @Test(arguments: [
        "filter='URL(#f)'", "filter='url(\n#f\n)'", "filter=\"url( '#f' )\"",
        "filter='/**/url(#f)'", "filter='url(#\\66)'", "filter='url(#&#102;)'",
        "style='fi/**/x:y;/*;*/FILTER:url(#f)'", "style='x:\"a;b\";filter:url(#f)'",
        "filter='url(#f)' x:filter='none'", "x:filter='none' filter='url(#f)'",
        "style='font-family:\"a\\\"b\";filter:url(#f)'",
    ])
    func aFilterIsFoundHoweverItIsNamed(_ use: String) throws {
        #expect(try Self.drawsSteps(Self.filter + "<rect \(use)/>"))
    }

    @Test func aFilterThatNothingNamesIsNotDrawn() throws {
        let hidden = "<!-- <g filter='url(#f)'> --><text><![CDATA[<g filter='url(#f)'>]]></text>"
        #expect(
            try !Self.drawsSteps(Self.filter + hidden + "<style>.b{filter:url(#f)}</style><g/>"))
    }

    @Test(arguments: [
        ".a{filter:/*{*/url(#f)}", ".a{x:{};filter:url(#f)}", ".b{fill:url(/*)}.a{filter:url(#f)}",
        ".b{x:\"/*\"}.a{filter:url(#f)}", ".a{filter:url(#f)",
        "@supports (x:y){.a{filter:url(#f)}}",
        "&lt;!--.a{filter:url(#f)}-->", "};.a{filter:url(#f)}",
        ".b{x:\"}\";y:'{'}.a{filter:url(#f)}",
        "@x(/*)*/);.a{filter:url(#f)}", ".\\61{filter:url(#f)}", ".b{x:(});}.a{filter:url(#f)}",
        "/*</style><style>.a{filter:url(#f)}", ".a{fil<![CDATA[ter:u]]>rl(#f)}",
        ".a{fil<!-- x -->ter:url(#f)}", ".A,.a{filter:url(#f)}", ":not(.b,c){filter:url(#f)}",
        ".b{x:url(  'a)' ) }.a{filter:url(#f)}", ".a{&#102;ilter:url(#f)}",
    ])
    func aRuleIsFoundWhateverStandsAroundIt(_ sheet: String) throws {
        let body = "<style>\(sheet)</style>\(Self.filter)<rect class='a'/>"
        #expect(try Self.drawsSteps(body))
    }

    @Test(arguments: [
        "<filter id='f' x:id='b'>S</filter>", "<filter id='&#102;'>S</filter>",
        "<filter id='f'>S</filter><filter id='f'/>", "<filter id='f'/><filter id='f'>S</filter>",
    ])
    func aFilterIsFoundHoweverItIsDefined(_ definition: String) throws {
        let body = definition.replacing("S", with: Self.steps) + "<rect filter='url(#f)'/>"
        #expect(try Self.drawsSteps(body))
    }

    @Test(arguments: ["\u{301}f", "e\u{301}"])
    func namesAreComparedByTheirBytes(_ name: String) throws {
        let body = "<filter id='\u{E9}'/><filter id='\(name)'>\(Self.steps)</filter>"
        #expect(try Self.drawsSteps(body + "<rect filter='url(#\(name))'/>"))
    }

    @Test(arguments: [
        "href='#g' xlink:href='#n'", "xlink:href='#n' href='#g'", "xlink:href='#g' x:href='#n'",
        "href='&#35;g'", "href='&e;g'",
    ])
    func aCopyIsThatOfEveryLink(_ links: String) throws {
        let body = "<defs><g id='g' filter='url(#f)'><rect/></g></defs><use \(links)/>"
        let entity = "<!DOCTYPE svg [<!ENTITY e '#'>]>"
        #expect(try Self.drawsSteps(Self.filter + body, before: entity))
    }

    // MARK: Documents

    /// What is in one that not all programs read alike is refused before it comes to that.
    @Test func aDocumentTypeHidesNothing() {
        let body = Self.filter + "<rect filter='url(#f)'/>"
        for type in [
            "<!DOCTYPE svg [<!ENTITY a \"]><!-- \">]>", "<!DOCTYPE svg [<!-- ]> \" --> ]>",
            "<!DOCTYPE svg [<?a ]> \" ?> ]>", "<!DOCTYPE svg SYSTEM \"[\">",
        ] {
            let drawsSteps = try? Self.drawsSteps(body, before: type)
            #expect(drawsSteps != false, "\(type)")
        }
    }

    @Test func aDocumentTypeGivesNoAttributes() throws {
        let type = "<!DOCTYPE svg [<!ATTLIST rect filter CDATA 'url(#f)'>]>"
        let rectangle = "<rect x='5' y='5' width='9' height='9'/>"
        let plain = try decoded(Data(Self.svg(rectangle).utf8))
        let typed = try decoded(Data(Self.svg(Self.filter + rectangle, before: type).utf8))
        #expect(plain.data == typed.data)
    }

    @Test func entitiesStandForTheirText() throws {
        // As Illustrator writes it.
        let type = """
            <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [
            <!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY red "fill:#F00"><!ENTITY st "&red;;">
            <!ENTITY % p "<!ENTITY q 'r'>"> <!ATTLIST svg a CDATA #IMPLIED>]>
            """
        let file = """
            \(type)<svg xmlns="&ns;" width="4" height="4"><rect style="&st;" width="4" height="4"/>\
            <desc>&unknown;</desc></svg>
            """
        #expect(try decoded(Data(file.utf8)).samples(0, 0) == [255, 0, 0, 255])
    }

    @Test func entitiesOfTooMuchTextAreRefused() {
        let laughs = (1...11).map { level in
            let others = String(repeating: "&a\(level - 1);", count: 10)
            return "<!ENTITY a\(level) '\(others)'>"
        }.joined()
        let tooMuch = ImageCodingError.tooComplex(
            .SVG, reason: "its entities stand for too much text")
        for (name, entities) in [
            ("a11", "<!ENTITY a0 'ha'>\(laughs)"), ("a", "<!ENTITY a '&b;'><!ENTITY b '&a;'>"),
        ] {
            let type = "<!DOCTYPE svg [\(entities)]>"
            #expect(Self.error("<text>&\(name);</text>", before: type) == tooMuch)
        }
    }

    @Test(arguments: [
        "<style>@import url(data:text/css,rect{});</style>",
        "<style>@IMPORT 'd\\61ta:text/css,rect{}';</style>",
        "<style>@\\69mport 'data:text/css,rect{}';</style>",
        "<?xml-stylesheet href='data:text/css,rect{}'?>",
        "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='data:,a'/>",
        "<use href='data:image/svg+xml,a#b'/>", "<rect filter='url(data:image/svg+xml,a#b)'/>",
        "<style>rect{mask:url( \"DATA:image/svg+xml,a#b\" )}</style>",
        "<rect filter='\\75 rl(#f)'/>", "<rect style='fill:u\\72l(#f)'/>",
    ])
    func partsThatCannotBeSeenAreRefused(_ body: String) {
        #expect(Self.error(body)?.unsupportedFormat == .SVG)
    }

    @Test func styleSheetsOfOthersAreNotLoaded() {
        let sheets = """
            <?xml-stylesheet href='a.css'?><style>@import url('https://example.com/a.css');
            @font-face{src:url(data:font/woff;base64,AA)} rect{fill:red}</style>
            """
        #expect(Self.error(sheets + "<rect width='9' height='9'/>") == nil)
    }

    @Test func everyEncodingIsReadAsWhatItSays() throws {
        let body = Self.filter + "<rect filter='url(#f)'/>"
        let hidden = Self.svg(
            body.replacing("<", with: "+ADw-").replacing(">", with: "+AD4-")
                .replacing("#", with: "+ACM-"), before: "<?xml version='1.0' encoding='UTF-7'?>")
        #expect(try SVGDocument(Data(hidden.utf8)).drawnCount > 30)
        let text = "<?xml version='1.0' encoding='ISO-8859-15'?>" + Self.svg("<g id='\u{20AC}'/>")
        let latin = text.unicodeScalars.map { $0 == "\u{20AC}" ? 0xA4 : UInt8($0.value) }
        let document = try SVGDocument(Data(latin))
        #expect(String(decoding: document.data, as: UTF8.self).contains("id=\"\u{20AC}\""))
    }

    @Test(arguments: [
        ("<g a='1&#10;2'>a&#13;<![CDATA[<b>&]]></g>", "<g a=\"1 2\">a&#13;&lt;b&gt;&amp;</g>"),
        ("<!-- a --><g x:a='1' xml:space='preserve'/>\0", "<g xml:space=\"preserve\"/>"),
        ("<g id='\"'/>\r\n", "<g id=\"&quot;\"/>\n"),
    ])
    func whatIsDrawnIsWrittenAnew(_ before: String, _ after: String) throws {
        let isOutside = before.hasSuffix("\0")
        let svg = "<svg width=\"9\" height=\"9\">"
        let file = "\(svg)\(before.filter { $0 != "\0" })</svg>" + (isOutside ? "\0" : "")
        let document = try SVGDocument(Data(file.utf8))
        #expect(String(decoding: document.data, as: UTF8.self) == "\(svg)\(after)</svg>")
    }

    @Test(arguments: [
        "<svg><g/>", "<svg><rect", "<svg/><svg/>", "<svg></g>", "<svg><g/></svg>a",
        "<svg>&a;</svg>",
    ])
    func whatIsNotWellFormedIsDamaged(_ text: String) {
        #expect(Self.error(Data(text.utf8))?.damagedFormat == .SVG)
    }

    // MARK: Pictures

    private static func image(_ kind: String, _ data: Data) -> String {
        "<image width='9' height='9' href='data:\(kind);base64,\(data.base64EncodedString())'/>"
    }

    @Test func picturesWithinADrawingAreWithinTheLimits() throws {
        let picture = PNGFixture.solid(.red, width: 300, height: 300)
        let image = Self.image("image/png", picture)
        for body in [
            image, image.replacing("href", with: "xlink:href"),
            image.replacing("data:", with: " DATA:"),
            "<filter id='f'>\(Self.image("", picture).replacing("image", with: "feImage"))</filter>",
        ] {
            let data = Data(Self.svg(body).replacing("1000", with: "9").utf8)
            #expect(Self.error(data) == nil)
            #expect(
                Self.error(data, limits: DecodingLimits(maximumPixelCount: 80_000))
                    == .tooManyPixels(PixelSize(300, 300), limit: 80_000))
            #expect(
                Self.error(data, limits: DecodingLimits(maximumMemory: 700_000))
                    == .tooMuchMemory(needed: 720_000, limit: 700_000))
        }
    }

    @Test(arguments: [
        ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("image/png", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("image/x-xpixmap", "/* XPM */"), ("", "P6 9 9 255 "), ("image/bmp", "BM"),
    ])
    func picturesOfOtherKindsAreRefused(_ kind: String, _ text: String) {
        #expect(Self.error(Self.image(kind, Data(text.utf8)))?.unsupportedFormat == .SVG)
    }

    @Test func theKindThatAnAddressStatesIsThatOfThePicture() {
        let picture = PNGFixture.solid(.red, width: 9, height: 9)
        #expect(Self.error(Self.image("image/jpeg", picture)) == nil)
        #expect(
            Self.error(Self.image("image/x-tga", picture))
                == .unsupported(.SVG, reason: "a picture in it is PNG stated as image/x-tga"))
        // None at all.
        #expect(Self.error("<image href='data:image/png;base64,'/><image href='a.png'/>") == nil)
    }
}
