import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

/// Signals that no other test sends.
@Suite(.serialized) struct ProcessSignalsTests {
    @Test func aSignalIsHeardFromTheMomentThatItIsListenedFor() async {
        for _ in 0..<500 {
            let heard = Recorder<Int32>()
            let listening = ProcessSignals.listen(to: [SIGUSR2]) { heard.record($0) }
            kill(getpid(), SIGUSR2)
            #expect(await heard.waitFor(count: 1) == [SIGUSR2])
            listening.cancel()
        }
    }

    @Test func allWhoListenHearTheirSignals() async {
        let (one, other) = (Recorder<Int32>(), Recorder<Int32>())
        let first = ProcessSignals.listen(to: [SIGUSR2, SIGWINCH]) { one.record($0) }
        let second = ProcessSignals.listen(to: [SIGUSR2]) { other.record($0) }
        kill(getpid(), SIGWINCH)
        _ = await one.waitFor(count: 1)
        kill(getpid(), SIGUSR2)
        #expect(await one.waitFor(count: 2) == [SIGWINCH, SIGUSR2])
        #expect(await other.waitFor(count: 1) == [SIGUSR2])
        first.cancel()
        kill(getpid(), SIGUSR2)
        #expect(await other.waitFor(count: 2) == [SIGUSR2, SIGUSR2])
        #expect(one.count == 2)
        second.cancel()
    }

    @Test func anIgnoredSignalIsTold() {
        let former = signal(SIGURG, SIG_IGN)
        #expect(ProcessSignals.isIgnored(SIGURG))
        signal(SIGURG, SIG_DFL)
        #expect(!ProcessSignals.isIgnored(SIGURG))
        signal(SIGURG, former)
    }
}

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
