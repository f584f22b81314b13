import Testing

@testable import HalcyonServerURLs

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
        for text in ["http://example.com:22/", "https://example.com:80/", "http://example.com/"] {
            #expect(code(policy, text) == "source_not_allowed")
        }
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
        ("local:///a\\b/\u{10FFE9}", ["a\\b", "\u{10FFE9}"]),
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
        "local:///a/", "local:///.hidden", "local:///a/.git/config", "local:///..\\a",
        "local:///..../a", "local:///a\0b",
    ])
    func aLocalPathThatCannotBeIsNotFound(text: String) {
        #expect(code(SourcePolicy(allowsLocal: true), text) == "source_not_found")
    }
}
