import Testing

@testable import HalcyonCLI

struct TableTests {
    @Test func alignsColumnsByTheirWidestText() {
        var table = Table(.init(title: "name"), .init(title: "bytes", alignment: .right))
        table.add(["翠鸟.jpg", "12"])
        table.add(["a"])
        #expect(
            table.lines == [
                "name      bytes",
                "────────  ─────",
                "翠鸟.jpg     12",
                "a",
            ])
    }

    @Test func aLineBreakInATextStaysInItsRow() {
        var table = Table(.init(title: "key"))
        table.add(["a\nb"])
        #expect(table.lines.count == 3)
        #expect(table.lines.allSatisfy { !$0.contains("\n") })
    }
}
