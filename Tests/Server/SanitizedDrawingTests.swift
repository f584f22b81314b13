import Foundation
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// SVG drawings that are sent as such.
@Suite struct SanitizedDrawingTests {
    private static let space = "xmlns=\"http://www.w3.org/2000/svg\""

    private static func sanitized(_ text: String) throws -> String {
        String(decoding: try SVGSanitizer.sanitized(Data(text.utf8)), as: UTF8.self)
    }

    /// What stands in a drawing, before and after.
    @Test(arguments: [
        ("<script>alert(1)</script><g/>", "<g/>"), ("<script/><g/>", "<g/>"),
        ("<x:script xmlns:x=\"http://www.w3.org/2000/svg\">1</x:script>", ""),
        ("<SCRIPT>1</SCRIPT>", ""),
        ("<g onclick=\"a()\" ONLOAD=\"b()\" id=\"a\"/>", "<g id=\"a\"/>"),
        ("<foreignObject><body onload=\"a()\"><g/></body></foreignObject>", ""),
        ("<iframe src=\"a\"/><embed src=\"a\"/><object data=\"a\"/><form action=\"a\"/>", ""),
        ("<a href=\"javascript:alert(1)\"><g/></a>", "<a><g/></a>"),
        ("<a href=\" java&#10;script:alert(1)\">b</a>", "<a>b</a>"),
        ("<a href=\"https://example.com/\">b</a>", "<a>b</a>"),
        ("<a href=\"data:text/html,b\">b</a>", "<a>b</a>"),
        ("<a href=\"#b\">b</a>", "<a href=\"#b\">b</a>"),
        ("<use xlink:href=\"#b\"/>", "<use xlink:href=\"#b\"/>"),
        ("<use href=\"http://example.com/a.svg#b\"/>", "<use/>"),
        ("<use y:href=\"//example.com/#b\"/>", "<use/>"),
        ("<image href=\"http://169.254.169.254/\"/>", "<image/>"),
        ("<image href=\"file:///etc/passwd\"/>", "<image/>"),
        ("<image href=\"data:image/svg+xml,b\"/>", "<image/>"),
        (
            "<image href=\"data:image/png;base64,AA\"/>",
            "<image href=\"data:image/png;base64,AA\"/>"
        ),
        ("<g xml:base=\"http://example.com/\"/>", "<g/>"),
        ("<animate attributeName=\"href\" to=\"javascript:a()\"/>", ""),
        ("<set attributeName=\"xlink:href\" to=\"javascript:a()\"/>", ""),
        ("<set attributeName=\"onclick\" to=\"a()\"/>", ""),
        ("<set attributeName=\"fill\" to=\"url(http://a/)\"/>", "<set attributeName=\"fill\"/>"),
        ("<animate attributeName=\"x\" to=\"9\"/>", "<animate attributeName=\"x\" to=\"9\"/>"),
        ("<rect fill=\"url(#a)\"/>", "<rect fill=\"url(#a)\"/>"),
        ("<rect fill=\"URL( 'http://a/b' )\"/>", "<rect/>"),
        ("<rect fill=\"u\\72l(http://a/)\"/>", "<rect/>"),
        ("<rect style=\"fill:url(//a/b);x:y\"/>", "<rect style=\"fill:none;x:y\"/>"),
        ("<rect style=\"fill:u\\72l(//a/b)\"/>", "<rect/>"),
        ("<g transform=\"rotate(1)\"/>", "<g transform=\"rotate(1)\"/>"),
        ("<style>@import 'a.css';g{fill:red}</style>", "<style>g{fill:red}</style>"),
        ("<style>@im@import;port url(a);</style>", "<style></style>"),
        ("<style>g{fill:url(\"a.svg#b\")}</style>", "<style>g{fill:none}</style>"),
        ("<style>g{fill:ur/**/l(a)}</style>", "<style>g{fill:ur l(a)}</style>"),
        ("<style>g{x:-webkit-image-set('a' 1x)}</style>", "<style></style>"),
        ("<style><![CDATA[a > b{fill:red}]]></style>", "<style>a &gt; b{fill:red}</style>"),
        ("<style>a{}<g/></style>", "<style>a{}</style>"),
        ("<style>g{x:u<![CDATA[rl(a)]]>}</style>", "<style>g{x:none}</style>"),
        ("<style>g{x:u<!-- a -->rl(a)}</style>", "<style>g{x:none}</style>"),
        ("<style>@im<g/>port 'a';b{}</style>", "<style>b{}</style>"),
        ("<style>g{x:url(a</style>", "<style>g{x:none</style>"),
        (
            "<style>g{x:URL(#a) url('data:image/png,a')}</style>",
            "<style>g{x:URL(#a) url('data:image/png,a')}</style>"
        ),
        ("<text>a &lt; b &#x26; c</text>", "<text>a &lt; b &amp; c</text>"),
        ("<text><![CDATA[<script>]]></text>", "<text>&lt;script&gt;</text>"),
        ("<!-- a --><?xml-stylesheet href=\"a\"?><g/>", "<g/>"),
        ("<g id='a\"b'/>", "<g id=\"a&quot;b\"/>"),
        ("<metadata><rdf:RDF/></metadata><handler>1</handler><listener/>", ""),
    ])
    func whatCouldRunOrLoadSomethingGoes(before: String, after: String) throws {
        let found = try Self.sanitized("<svg \(Self.space)>\(before)</svg>")
        #expect(found == "<svg \(Self.space)>\(after)</svg>")
        // What is good stays as it is.
        #expect(try Self.sanitized(found) == found)
    }

    @Test func whatStandsBeforeTheDrawingGoes() throws {
        let head =
            "\u{FEFF}<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" "
            + "\"a.dtd\" [<!ATTLIST svg onload CDATA \"a()\">]>\n<!-- a -->"
        #expect(
            try Self.sanitized(head + "<svg/>\n") == "\n<svg \(Self.space)/>".trimmingPrefix("\n"))
        let latin = Data(
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><svg id=\"\u{E9}\"/>".unicodeScalars
                .map { UInt8($0.value) })
        let found = String(decoding: try SVGSanitizer.sanitized(latin), as: UTF8.self)
        #expect(found == "<svg id=\"\u{E9}\" \(Self.space)/>")
        let wide = try #require("\u{FEFF}<svg/>".data(using: .utf16LittleEndian))
        #expect(try SVGSanitizer.sanitized(wide) == Data("<svg \(Self.space)/>".utf8))
    }

    private static let damaged: [(LongText, String)] = [
        "", "<svg>", "<svg></g>", "<svg/><svg/>", "<svg/>a", "<g/>", "<svg a=\"1\" a=\"2\"/>",
        "<svg a=1/>", "<svg>&nbsp;</svg>", "<svg>&#0;</svg>", "<svg>\u{1}</svg>", "<svg a=\"<\"/>",
        "<svg><!-- </svg>", "<svg><![CDATA[</svg>", "<!DOCTYPE svg [", "<svg", "<svg a",
        "<svg a=\"",
    ].map { ($0, "source_damaged") }

    private static let tooComplex: [(LongText, String)] = [
        "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "<svg>\(String(repeating: "<g>", count: 256))",
        "<svg>\(String(repeating: "<g/>", count: 100_001))</svg>",
        "<svg>\(String(repeating: " ", count: 5 << 20))</svg>",
    ].map { ($0, "source_too_complex") }

    @Test(arguments: damaged + tooComplex)
    func whatCannotBeToldForSureIsRefused(text: LongText, code: String) {
        #expect {
            try SVGSanitizer.sanitized(Data(text.value.utf8))
        } throws: { error in
            (error as? Failure)?.kind.code == code
        }
    }

    /// However parts of drawings are put together, nothing that runs or loads is left.
    @Test func noMixtureOfPiecesGetsThrough() throws {
        let pieces = [
            "<", ">", "/", "<g>", "</g>", "<script>", "</script>", "<style>", "</style>", " href=",
            " xlink:href=", "\"", "'", "javascript:alert(1)", "http://a/", " onload=\"a()\"",
            "<![CDATA[", "]]>", "<!--", "-->", "<?a", "?>", "url(", ")", "@import ", ";", "\\75rl(",
            "/*", "*/", "u", "rl(", "@im", "port ", "<style>@im", "<style>g{x:u", "&lt;", "&#60;",
            "&#x3c;script&#x3e;", "&quot;", "<image", "<use", "<a",
            "/>", "<foreignObject>", "</foreignObject>", "{", "}", " style=\"", "data:image/png,",
            "#a", " ", "\n", "<svg>", "</svg>", "é",
        ]
        var random = SeededGenerator(state: 4711)
        var taken = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...8, using: &random)
            let content = (0..<count).map { _ in
                pieces[Int.random(in: pieces.indices, using: &random)]
            }.joined()
            guard let found = try? Self.sanitized("<svg>\(content)</svg>") else { continue }
            taken += 1
            for tag in found.matches(of: /<[^>]*>/).map({ $0.output.lowercased() }) {
                let isHarmless =
                    !tag.hasPrefix("<script") && !tag.contains("foreignobject")
                    && tag.firstMatch(of: /\son[a-z]*=/) == nil
                    && tag.firstMatch(of: /href="(?!#|data:image\/png)/) == nil
                    && tag.firstMatch(of: /url\(\s*+(?:&quot;|')?+(?!#|data:image\/png)/) == nil
                #expect(isHarmless, "\(content) became \(found)")
            }
            for style in found.matches(of: /<style>([^<]*)</).map({ $0.1 }) {
                #expect(!style.contains("@import") && !style.contains("\\"))
                #expect(style.firstMatch(of: /url\(\s*+(?:&quot;|')?+(?!#|data:image\/png)/) == nil)
            }
            #expect(try Self.sanitized(found) == found)
        }
        #expect(taken > 500)
    }

    /// What takes the square of its length takes hours.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["@import;", "url(", "url(#a)", "/*", "/**/", "&lt;", "<!---->", "<g/>"])
    func whatIsThereAgainAndAgainIsReadOnce(piece: String) {
        let count = min(90_000, (5 << 20) / piece.utf8.count - 10)
        let text = "<svg><style>\(String(repeating: piece, count: count))</style></svg>"
        let found = Result { try Self.sanitized(text) }
        // Too many parts, or nothing that loads.
        if case .success(let found) = found { #expect(!found.contains("url(url")) }
    }

    // MARK: Served

    private static let drawing =
        "<svg \(space) width=\"40\" height=\"20\"><script>1</script>"
        + "<defs><linearGradient id=\"a\"><stop stop-color=\"red\"/>"
        + "<stop offset=\"1\" stop-color=\"blue\"/></linearGradient></defs>"
        + "<rect width=\"40\" height=\"20\" fill=\"url(#a)\"/></svg>"

    private func start(
        _ mode: ImageServerConfiguration.SVG, _ drawing: String = drawing
    ) async throws -> LiveServer {
        try await LiveServer.start(files: ["a.svg": Data(drawing.utf8)]) {
            $0.processing.svg = mode
            $0.negotiation.formats = ["webp"]
            // How many steps a drawing may have goes by that.
            $0.work.requestTimeout = .seconds(60)
        }
    }

    @Test func aDrawingIsSentAsSuchWhereThatIsSet() async throws {
        let live = try await start(.sanitize)
        for target in ["/_/plain/local:///a.svg", "/_/w:10/plain/local:///a.svg@svg"] {
            let answer = try await live.ask(target, fields: ["Accept": "image/webp"])
            answer.expect(200, ["Content-Type": "image/svg+xml"])
            #expect(
                answer["Content-Security-Policy"]?.hasPrefix("sandbox; default-src 'none'") == true)
            #expect(answer["Content-Disposition"] == "inline; filename=\"a.svg\"")
            #expect(!answer.text.contains("script") && answer.text.contains("url(#a)"))
        }
        let png = try await live.ask("/_/w:10/plain/local:///a.svg@png")
        #expect(try png.pixelSize == PixelSize(width: 10, height: 5))
        #expect(try await [404, 422].contains(live.ask(.china("", "@svg")).status))
    }

    @Test func aDrawingIsDrawnOrRefusedWhereThatIsSet() async throws {
        let drawing = try await start(.rasterize)
        #expect(try await drawing.ask("/_/plain/local:///a.svg")["Content-Type"] == "image/png")
        #expect(try await drawing.ask("/_/plain/local:///a.svg@svg").status == 422)
        // As it is, it is never sent.
        let skipped = try await drawing.ask("/_/skp:svg/plain/local:///a.svg")
        #expect(skipped["Content-Type"] == "image/svg+xml" && !skipped.text.contains("script"))
        let refusing = try await start(.refuse)
        for format in ["", "@png", "@svg"] {
            #expect(try await refusing.ask("/_/plain/local:///a.svg\(format)").status == 422)
        }
    }

    /// What is too much is not said to be a picture of an unknown kind.
    @Test(arguments: [
        ("more elements than are drawn", "<g/>", 100_001, ""),
        ("more elements than are looked at", "<g/>", 400_001, ""), ("more bytes", " ", 5 << 20, ""),
        ("more levels", "<g>", 256, "</g>"),
    ])
    func aDrawingThatIsTooMuchIsSaidToBe(
        name: String, part: String, count: Int, end: String
    ) async throws {
        let content = String(repeating: part, count: count) + String(repeating: end, count: count)
        let size = "width=\"2000\" height=\"2000\""
        let live = try await start(.rasterize, "<svg \(Self.space) \(size)>\(content)</svg>")
        let outcome = try await live.outcome("/_/plain/local:///a.svg@png")
        #expect(outcome == "422 source_too_complex", "\(name)")
    }

    @Test func aDrawingAsksNobodyForItsPictures() async throws {
        let origin = try await OriginServer.start(files: ["/a.png": PNGFixture.green])
        let inner = origin.url("/a.png").absoluteString
        let drawing = """
            <svg \(Self.space) xmlns:xlink="http://www.w3.org/1999/xlink" width="20" height="20">\
            <image href="\(inner)" width="9" height="9"/>\
            <image xlink:href="\(inner)" width="9" height="9"/>\
            <style>@import url(\(inner)); rect { fill: url(\(inner)) }</style>\
            <rect width="9" height="9"/></svg>
            """
        let live = try await start(.rasterize, drawing)
        #expect(try await [200, 422].contains(live.ask("/_/w:20/plain/local:///a.svg@png").status))
        #expect(origin.connectionCount == 0)
    }

    @Test func aSanitizedDrawingLooksTheSame() throws {
        let before = try Image.decoding(Data(Self.drawing.utf8)).bitmap()
        let after = try Image.decoding(SVGSanitizer.sanitized(Data(Self.drawing.utf8))).bitmap()
        #expect(before.size == after.size)
        let pixels = [before, after].map { $0.withUnsafeBytes { Array($0) } }
        #expect(pixels[0] == pixels[1])
    }
}
