import HalcyonTestKit
import Testing

@testable import HalcyonServerPlans

/// URLs of sources, as they are requested.
struct SourceURLTests {
    @Test(arguments: [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM./A", "https://example.com/A"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("https://example.com:/a", "https://example.com/a"),
        ("https://example.com/a b.jpg?x=1&y=%40", "https://example.com/a%20b.jpg?x=1&y=%40"),
        ("https://example.com/é?é", "https://example.com/%C3%A9?%C3%A9"),
        ("https://example.com/50%/%zz", "https://example.com/50%25/%25zz"),
        ("https://example.com/a#b?c", "https://example.com/a"),
        ("https://example.com?x", "https://example.com/?x"),
        ("https://example.com/a?b?c/../d", "https://example.com/a?b?c/../d"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("https://example.com/../../a", "https://example.com/a"),
        ("https://example.com/a/%2e%2E/b", "https://example.com/b"),
        ("https://example.com/a/..", "https://example.com/"),
        ("https://example.com/a/b/..", "https://example.com/a/"),
        ("https://example.com//a//b", "https://example.com//a//b"),
        ("https://example.com/a/?", "https://example.com/a/?"),
        ("http://[2001:DB8::1]:8080/a", "http://[2001:db8::1]:8080/a"),
        ("http://192.0.2.1/a", "http://192.0.2.1/a"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://example.com/a@b:c", "http://example.com/a@b:c"),
    ])
    func aURLIsReadInOneWay(text: String, expected: String) throws {
        let url = try SourceURL(text)
        #expect(url.text == expected)
        #expect(try SourceURL(url.text) == url)
    }

    @Test(arguments: [
        "", "a", "/a", "//example.com/a", "http:", "http:/", "http://", "http:///a", "http:a",
        "ftp://example.com/", "data:image/png;base64,AA", "file:///etc/passwd",
        "javascript:alert(1)",
        "gopher://example.com/", "http://user@example.com/", "http://example.com:pw@10.0.0.1/",
        "http://ok.example.com@evil.example/", "http://@example.com/", "http://exa mple.com/",
        "http://example.com\\@evil.example/", "http://example.com/a\\b", "http://example.com/a\nb",
        "http://example.com/\u{0}", "http://example.com/\u{7F}", "http://bücher.example/",
        "http://①②⑦.0.0.1/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/",
        "http://[::1", "http://::1/", "http://[::1]x/", "http://[1.2.3.4]/", "http://[]/",
        "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/",
        "http://127.1/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.3.04/",
        "http://1.2.3.0x4/", "http://a.0x/", "http://a.1/", "http://example.com:0/",
        "http://example.com:65536/", "http://example.com:99999999999/", "http://example.com:+80/",
        "http://example.com:8o/", "http://example.com:80:80/", "http://a..b/", "http://.a/",
        "http://a../", "http://%65xample.com/", "http://example.com%2f@x/", "http://*/",
        "http://a\u{AD}b.example/", "http://exa\u{200B}mple.com/",
    ])
    func whatCanBeReadInTwoWaysIsRefused(text: String) {
        do throws(PlanError) {
            let url = try SourceURL(text)
            Issue.record("\(url)")
        } catch {
            #expect(error.code == "source_not_allowed" && error.status == 404)
        }
    }

    @Test func longNamesAreRefused() {
        let label = String(repeating: "a", count: 64)
        #expect(throws: PlanError.self) { try SourceURL("http://\(label).example/") }
        let name = String(repeating: "a.", count: 130)
        #expect(throws: PlanError.self) { try SourceURL("http://\(name)example/") }
    }

    @Test func anOriginIsSchemeHostAndPort() throws {
        let url = try SourceURL("https://example.com/a")
        #expect(try url.hasSameOrigin(as: SourceURL("https://EXAMPLE.com:443/b")))
        for other in ["http://example.com:443/", "https://example.com:80/", "https://a.example/"] {
            #expect(try !url.hasSameOrigin(as: SourceURL(other)))
        }
    }

    @Test(arguments: 0..<4)
    func anyTextIsAURLOrAnError(seed: UInt64) throws {
        var numbers = SeededGenerator(state: seed)
        let pieces = [
            "http", "https", ":", "/", "//", "://", "@", "[", "]", "::1", "%", "%2e", "..", ".",
            "#",
            "?", "\\", " ", "example.com", "127.0.0.1", "0x7f", "1", "é", "\u{0}", "\u{301}", ":80",
            "*", "-", "_",
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...8, using: &numbers)
            let text =
                (numbers.next() & 1 == 0 ? "http://" : "")
                + (0..<count).map { _ in pieces.randomElement(using: &numbers)! }.joined()
            guard let url = try? SourceURL(text) else { continue }
            #expect(try SourceURL(url.text) == url, "\(text)")
            #expect(!url.path.contains("/../") && url.path.hasPrefix("/"))
            #expect(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        }
    }
}

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

/// What a server looks for at all.
struct SourcePolicyTests {
    private func code(_ policy: SourcePolicy, _ text: String) -> String? {
        do throws(PlanError) {
            _ = try policy.reference(text)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func onlyWhatIsListedIsAllowed() throws {
        let policy = SourcePolicy(patterns: [try SourcePattern("example.com:*")])
        #expect(code(policy, "https://example.com/a") == nil)
        #expect(code(policy, "https://other.example/a") == "source_not_allowed")
        #expect(code(SourcePolicy(), "https://example.com/a") == "source_not_allowed")
    }

    @Test func portsAreLimitedWhateverThePatternSays() throws {
        let policy = SourcePolicy(patterns: [try SourcePattern("*")], ports: [443])
        #expect(code(policy, "https://example.com/") == nil)
        #expect(code(policy, "http://example.com:22/") == "source_not_allowed")
        #expect(code(policy, "https://example.com:80/") == "source_not_allowed")
    }

    @Test func httpCanBeTurnedOff() throws {
        let policy = SourcePolicy(patterns: [try SourcePattern("*")], allowsHTTP: false)
        #expect(code(policy, "https://example.com/") == "source_not_allowed")
    }

    @Test(arguments: [
        ("local:///a.jpg", "source_not_allowed"), ("s3://bucket/key", "unknown_scheme"),
        ("gs://bucket/key", "unknown_scheme"), ("abs://x/y", "unknown_scheme"),
        ("swift://x/y", "unknown_scheme"), ("file:///etc/passwd", "source_not_allowed"),
        ("data:image/png;base64,AA", "source_not_allowed"), ("ftp://a/b", "source_not_allowed"),
        ("a.jpg", "source_not_allowed"), ("", "source_not_allowed"), ("s3", "unknown_scheme"),
    ])
    func otherSchemesAreRefused(text: String, code: String) throws {
        #expect(self.code(SourcePolicy(patterns: [try SourcePattern("*")]), text) == code)
    }

    @Test func aSchemeThatWasAddedIsHandedOn() throws {
        let policy = SourcePolicy(otherSchemes: ["s3"])
        #expect(
            try policy.reference("S3://bucket/key")
                == .other(scheme: "s3", text: "S3://bucket/key"))
    }

    @Test(arguments: [
        ("local:///a.jpg", ["a.jpg"]), ("local:/a/b.jpg", ["a", "b.jpg"]),
        ("local:///a b/é.jpg?x=/../", ["a b", "é.jpg"]), ("LOCAL:///a", ["a"]),
        ("local:///a%2e%2e", ["a%2e%2e"]), ("local:///a..b", ["a..b"]),
    ])
    func aLocalSourceIsAPath(text: String, segments: [String]) throws {
        guard case .local(let path) = try SourcePolicy(allowsLocal: true).reference(text) else {
            Issue.record("no local source")
            return
        }
        #expect(path.segments == segments)
    }

    @Test(arguments: [
        "local:", "local:/", "local:///", "local:a", "local://host/a", "local:////a",
        "local:///../etc/passwd", "local:///a/../b", "local:///a/./b", "local:///a//b",
        "local:///a/",
        "local:///.hidden", "local:///a/.git/config", "local:///..\\a", "local:///a\\b",
        "local:///..../a", "local:///a\0b",
    ])
    func aLocalPathThatCannotBeIsNotFound(text: String) {
        #expect(code(SourcePolicy(allowsLocal: true), text) == "source_not_found")
    }
}
