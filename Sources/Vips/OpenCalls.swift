import Glibc
import Synchronization

/// The calls of libvips that are under way, which have to be over when the program ends.
///
/// A program that ends destroys what its libraries hold, such as the decoders that libheif knows, while
/// its other threads still run. So its end waits for the calls under way, and refuses later ones.
final class OpenCalls: Sendable {
    static let shared = OpenCalls()

    private struct State {
        var count = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Seconds for which the end of the program waits. A call takes longer only if it works on a very
    /// large image, or if the program ends from within it.
    private static let patience = 5

    /// Notes the beginning of a call; `false` when it must not be made any more.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.count += 1
            return true
        }
    }

    /// Notes the end of a call.
    func leave() {
        state.withLock { $0.count -= 1 }
    }

    /// Refuses calls from now on, and returns when none is under way, or after `milliseconds`.
    func close(waitingAtMost milliseconds: Int) {
        state.withLock { $0.isClosed = true }
        // Nobody who ends the program has a thread to be woken, and it happens once.
        var left = milliseconds
        while left > 0, state.withLock({ $0.count > 0 }) {
            usleep(1000)
            left -= 1
        }
    }

    /// Has the end of the program wait for calls. Libraries that are loaded by now are destroyed after
    /// that.
    static func closeAtExit() {
        atexit { OpenCalls.shared.close(waitingAtMost: OpenCalls.patience * 1000) }
    }
}
