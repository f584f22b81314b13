import HalcyonTestKit
import Testing

@testable import HalcyonServerURLs

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
        let error = #expect(throws: PlanError.self) { try SourceURL(text) }
        #expect(error?.code == "source_not_allowed" && error?.status == 404)
    }

    @Test func longNamesAreRefused() {
        let label = String(repeating: "a", count: 64)
        #expect(throws: PlanError.self) { try SourceURL("http://\(label).example/") }
        let name = String(repeating: "a.", count: 130)
        #expect(throws: PlanError.self) { try SourceURL("http://\(name)example/") }
    }

    @Test(arguments: 0..<4) func anyTextIsAURLOrAnError(seed: UInt64) throws {
        var numbers = SeededGenerator(state: seed)
        let pieces = [
            "http", "https", ":", "/", "//", "://", "@", "[", "]", "::1", "%", "%2e", "..", ".",
            "#", "?", "\\", " ", "example.com", "127.0.0.1", "0x7f", "1", "é", "\u{0}", "\u{301}",
            ":80", "*", "-", "_",
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
