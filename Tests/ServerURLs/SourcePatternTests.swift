import Testing

@testable import HalcyonServerURLs

/// Lists of sources that are allowed.
struct SourcePatternTests {
    @Test(arguments: [
        ("*", "http://anything.example:80/a", true), ("*", "https://[::1]:8443/a", true),
        ("example.com", "http://example.com/a", true),
        ("example.com", "https://EXAMPLE.com./a", true),
        ("example.com", "https://www.example.com/a", false),
        ("example.com", "https://example.com.evil.example/", false),
        ("example.com", "https://notexample.com/", false),
        ("example.com", "http://example.com:443/", false),
        ("https://example.com", "http://example.com/", false),
        ("https://example.com", "https://example.com/", true),
        ("HTTPS://Example.com.", "https://example.com/", true),
        ("*.example.com", "https://a.example.com/", true),
        ("*.example.com", "https://a.b.example.com/", true),
        ("*.example.com", "https://example.com/", false),
        ("*.example.com", "https://aexample.com/", false),
        ("*.example.com", "https://a.example.com.evil.example/", false),
        ("http://example.com:8080", "http://example.com:8080/", true),
        ("http://example.com:8080", "http://example.com/", false),
        ("example.com:*", "https://example.com:8443/", true),
        ("*.example.com:*", "https://a.example.com:1/", true),
        ("https://*", "https://a.example/", true), ("https://*", "http://a.example/", false),
        ("https://*", "https://a.example:8443/", false),
        ("https://*:*", "https://a.example:8443/", true),
        ("https://example.com/img", "https://example.com/img/a.jpg", true),
        ("https://example.com/img/", "https://example.com/img", true),
        ("https://example.com/img", "https://example.com/img", true),
        ("https://example.com/img", "https://example.com/images/a.jpg", false),
        ("https://example.com/img", "https://example.com/img/../secret", false),
        ("https://example.com/img", "https://example.com/img/%2e%2e/secret", false),
        ("https://example.com/img", "https://example.com/img/..%2fsecret", false),
        ("https://example.com/img", "https://example.com/img/..%5csecret", false),
        ("https://example.com/img", "https://example.com/%69mg/a", true),
        ("https://example.com/img", "https://example.com/secret/../img/a", true),
        ("https://example.com/img", "https://example.com/img/caf%E9", true),
        ("https://example.com/img", "https://example.com//img/a", false),
        ("https://example.com/img/a", "https://example.com/img//a", false),
        ("https://example.com/img", "https://example.com/img//a", true),
        ("https://example.com/*/thumbs", "https://example.com/a/thumbs/x", true),
        ("https://example.com/*/thumbs", "https://example.com/a/b/thumbs/x", false),
        ("https://example.com/a*c*e", "https://example.com/abcde/x", true),
        ("https://example.com/a*c*e", "https://example.com/ace", true),
        ("https://example.com/a*c*e", "https://example.com/abde", false),
        ("http://192.0.2.1", "http://192.0.2.1/", true),
        ("http://[2001:db8::1]", "http://[2001:DB8::1]/", true),
    ])
    func aPatternDescribesURLs(pattern: String, url: String, matches: Bool) throws {
        #expect(try SourcePattern(pattern).matches(SourceURL(url)) == matches)
    }

    @Test(arguments: [
        "", "https://", "/path", "ftp://example.com", "https://user@example.com", "a@b",
        "example.com:0", "example.com:99999", "example.com:80:*", "*.", "*.*.example.com",
        "a.*.example.com", "exa mple.com", "example.com?x", "example.com#x", "http:example.com",
        "bücher.example", "127.1", "https://example.com\\a",
    ])
    func aPatternWithoutProperHostIsRefused(pattern: String) {
        #expect(throws: PlanError.self) { try SourcePattern(pattern) }
    }

    @Test func manyStarsTakeNoTime() throws {
        let pattern = try SourcePattern("https://a.example/" + String(repeating: "*a", count: 100))
        let path = String(repeating: "a", count: 8000) + "b"
        #expect(try !pattern.matches(SourceURL("https://a.example/" + path)))
    }
}
