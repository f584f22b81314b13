import Foundation
import Testing

@testable import HalcyonCLI

struct PrefetchListTests {
    private func texts(_ list: String) throws -> [String] {
        try PrefetchList(Data(list.utf8)).arguments.map(\.text)
    }

    @Test(arguments: [
        ("", []), ("\n\n", []), ("# a\n  # b", []), ("a.png", ["a.png"]),
        ("a.png\r\n\r\nhttps://example.org/b#c\r\n", ["a.png", "https://example.org/b#c"]),
        ("\u{FEFF}a.png\n \t翠 鳥.png \n", ["a.png", "翠 鳥.png"]),
    ])
    func leavesOutBlankLinesAndComments(list: String, expected: [String]) throws {
        #expect(try texts(list) == expected)
    }

    @Test func countsAllLinesWhenItNamesABadOne() {
        let error = #expect(throws: PrefetchList.BadLine.self) {
            try texts("# a\r\n\nb.png\nftp://example.org/c\nftp://example.org/d")
        }
        #expect(error?.number == 4)
        #expect(error?.description.hasPrefix("line 4: ftp") == true)
    }
}
