import Testing

@testable import HalcyonCLI

struct TextStyleTests {
    @Test func coloursOnlyForATerminalThatWantsThem() {
        #expect(TextStyle(isTerminal: true, environment: [:]).isColoured)
        #expect(TextStyle(isTerminal: true, environment: ["NO_COLOR": ""]).isColoured)
        #expect(!TextStyle(isTerminal: false, environment: [:]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["NO_COLOR": "1"]).isColoured)
        #expect(!TextStyle(isTerminal: true, environment: ["TERM": "dumb"]).isColoured)
    }

    @Test func wrapsTextInEscapeSequences() {
        #expect(TextStyle(isColoured: true)(.red, "no") == "\u{1B}[31mno\u{1B}[0m")
        #expect(TextStyle.plain(.red, "no") == "no")
    }
}
