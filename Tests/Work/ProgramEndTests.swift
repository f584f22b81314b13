import Foundation
import HalcyonWork
import Testing

/// How programs end, each in a process of its own.
@Suite struct ProgramEndTests {
    @Test func nothingIsDestroyedAtTheEnd() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // What libraries do at the end, at its worst.
            atexit { abort() }
            ProgramEnd.skipsDestruction()
            exit(7)
        }
    }

    @Test func whatStreamsHoldIsWritten() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            print("the last words", terminator: "")
            ProgramEnd.skipsDestruction()
            exit(0)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("the last words"))
    }
}
