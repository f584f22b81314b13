import Glibc

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
        on_exit(
            { code, _ in
                fflush(nil)
                _exit(code)
            }, nil)
    }
}
