import Foundation
import Testing

@testable import Halcyon
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

    @Test func aBadLineIsASourceThatFailsAndIsNamed() throws {
        let arguments = try PrefetchList(
            Data("# a\r\n\nb.png\nftp://example.org/c\ndata:,a\nd.png".utf8)
        ).arguments
        #expect(arguments.map(\.text) == ["b.png", "ftp://example.org/c", "data:,a", "d.png"])
        for (index, line) in [(1, "line 4: ftp"), (2, "line 5: A data URI")] {
            let failure = #expect(throws: LoadFailure.self) { try arguments[index].source.get() }
            #expect(failure?.code == 1002 && failure?.message.hasPrefix(line) == true)
        }
    }

    @Test func namesOfFilesNeedNotBeUTF8() throws {
        let list = Data("a.png\ncaf".utf8) + [0xE9] + Data(".png\nfile:///tmp/".utf8) + [0xE8]
        let arguments = try PrefetchList(list).arguments
        #expect(arguments.map(\.name.stem) == [[0x61], [0x63, 0x61, 0x66, 0xE9], [0xE8]])
        #expect(arguments[1].text.hasSuffix("/caf%E9.png"))
        #expect(try arguments[2].source.get().url?.absoluteString == "file:///tmp/%E8")
    }
}
