import Testing

@testable import HalcyonCLI

struct OutputNamesTests {
    @Test(arguments: [
        ("bird", "bird"), ("a b/c", "a-b-c"), ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"), ("-rf", "rf"), ("", "image"), ("...", "image"), ("翠鸟", "翠鸟"),
        ("a\u{0}b\nc", "a-b-c"), ("$(rm)", "rm"), ("x\u{1B}[1m", "x-1m"),
    ])
    func makesNamesSafe(wish: String, name: String) {
        #expect(OutputNames.safe(wish) == name)
    }

    @Test func staysFarBelowWhatFileSystemsAllow() {
        #expect(OutputNames.safe(String(repeating: "鸟", count: 500)).utf8.count <= 120)
    }

    @Test func givesNoNameTwice() {
        var names = OutputNames()
        let wishes = ["a", "A", "a", "a-2", "b", "a"]
        let given = wishes.map { names.next(for: $0) }
        #expect(given == ["a", "A-2", "a-3", "a-2-2", "b", "a-4"])
        #expect(Set(given.map { $0.lowercased() }).count == given.count)
    }
}
