import HalcyonServerURLs
import Testing

/// The one text of plans that mean the same.
struct CanonicalTextTests {
    private let parser: PlanParser

    init() throws { parser = try PlanParser() }

    private func text(_ path: String) throws -> String {
        try parser.parse(path: path).canonicalText
    }

    @Test(arguments: [
        ("/rs:fit:300:200/plain/local:///a.jpg", "/h:200/w:300/bG9jYWw6Ly8vYS5qcGc"),
        ("/plain/local:///a.jpg@png", "/f:png/plain/local%3A%2F%2F%2Fa.jpg"),
        ("/q:80/el:0/dpr:1/blur:0/plain/a", "/quality:80/plain/a"),
        ("/rot:-90/plain/a", "/rot:270/plain/a"),
        ("/exp:4102444800/fn:x/att:1/plain/a", "/plain/a"),
        ("/z:0.5/plain/a", "/z:0.50:5e-1/plain/a"), ("/bg:f80/plain/a", "/bg:255:136:0/plain/a"),
        ("/pd:5/plain/a", "/pd:5:5:5:5/plain/a"),
        ("/skp:gif:png/plain/a", "/skp:png/skp:gif/plain/a"),
        ("/fq:png:5:jpg:6/plain/a", "/fq:jpeg:6:png:5/plain/a"),
        ("/c:5:5/plain/a", "/c:5:5:ce/plain/a"), ("/pix:1/wm:0/plain/a", "/plain/a"),
        ("/maf:60/plain/a", "/plain/a"),
    ])
    func urlsThatMeanTheSameHaveTheSameText(first: String, second: String) throws {
        #expect(try text(first) == text(second))
    }

    @Test(arguments: [
        ("/w:300/plain/a", "/w:301/plain/a"), ("/cb:1/plain/a", "/plain/a"),
        ("/plain/a@png", "/plain/a@webp"), ("/plain/a", "/plain/A"),
        ("/maf:5/plain/a", "/plain/a"), ("/plain/a%2Fw", "/plain/a%252Fw"),
        ("/sm:0/plain/a", "/plain/a"), ("/g:sm/plain/a", "/plain/a"),
    ])
    func urlsThatMeanSomethingElseHaveAnotherText(first: String, second: String) throws {
        #expect(try text(first) != text(second))
    }

    @Test(arguments: OptionTests.settings)
    func whatMakesThePictureIsReadFromTheText(
        segments: String, setting: OptionTests.Setting
    ) throws {
        var configuration = PlanParser.Configuration()
        configuration.limits.allowsRaw = true
        configuration.limits.allowsSecurityOptions = true
        let open = try PlanParser(configuration)
        var expected = ImagePlan(source: "local:///a.jpg")
        setting(&expected.options)
        let text = expected.canonicalText
        expected.options.expires = nil
        expected.options.filename = nil
        expected.options.asAttachment = false
        #expect(try open.parse(path: text) == expected)
    }

    @Test func theTextIsAPath() throws {
        #expect(
            try text("/w:300/rs:fill::200/f:webp/plain/https://example.com/a b.jpg?x")
                == "/rt:fill/w:300/h:200/f:webp/plain/https%3A//example.com/a%20b.jpg%3Fx")
    }
}
