import Glibc
import Synchronization

/// The end of a program, some of whose threads still work.
package enum ProgramEnd {
    /// Has `exit` end the program at once with its code, when it has written what its streams hold.
    ///
    /// Otherwise `exit` has libraries destroy what they hold, which other threads may be using: those that decode,
    /// those of the network, and what GTK loads to draw, such as Mesa and LLVM with their thousands of objects.
    /// A program whose work is done can end with a crash then.
    ///
    /// To be called when all is done: what registers itself with `atexit` later still has its turn, and all else
    /// has none.
    package static func skipsDestruction() {
        on_exit({ code, _ in _exit(ProgramEnd.code(code)) }, nil)
    }

    /// Has the end of the program `name` tell when what it has printed cannot be written, with a message and the
    /// code 1. To be called at its beginning.
    ///
    /// Otherwise a full disk takes what `print` was given without a word.
    package static func tellsOfLostOutput(of name: String) {
        program.withLock { $0 = name }
        on_exit(
            { code, _ in
                let end = ProgramEnd.code(code)
                if end != code { _exit(end) }
            }, nil)
    }

    /// The name to begin messages with; `nil` for a program that does not tell.
    private static let program = Mutex<String?>(nil)

    /// Writes what the streams hold, and gives the code to end with instead of `code`.
    private static func code(_ code: Int32) -> Int32 {
        guard fflush(nil) != 0 else { return code }
        let error = errno
        guard let name = program.withLock({ $0 }) else { return code }
        // That the reader has gone away is no reason to complain.
        if error != EPIPE {
            let reason = String(cString: strerror(error))
            let text = "\(name): Standard output cannot be written: \(reason)\n"
            _ = write(2, text, text.utf8.count)
        }
        return code == 0 ? 1 : code
    }
}
