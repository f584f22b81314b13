import CVips
import Synchronization

/// libvips' error buffer, shared by all threads, behind one lock with the ledger that divides it.
enum ErrorBuffer {
    private static let ledger = Mutex(ErrorLedger())

    /// Runs `body` and throws libvips' message in the name of `operation` when it returns `nil`.
    ///
    /// While the program ends, throws without running it.
    /// - Parameter lineage: The operations whose evaluation `body` may set off.
    static func attempt<Result>(
        _ operation: String, lineage: Lineage = Lineage(), _ body: () throws(VipsError) -> Result?
    ) throws(VipsError) -> Result {
        guard OpenCalls.shared.enter() else {
            throw VipsError(operation: operation, message: "the program is ending")
        }
        defer { OpenCalls.shared.leave() }
        var lineage = lineage
        lineage.insert(operation)
        let token = ledger.withLock { ledger in
            ledger.begin(lineage, thread: currentThread, fresh: drain())
        }
        let result: Result?
        do {
            result = try body()
        } catch {
            ledger.withLock { $0.succeed(token, fresh: drain()) }
            throw error
        }
        guard let result else {
            let message = ledger.withLock { $0.fail(token, fresh: drain()) }
            throw VipsError(operation: operation, message: message)
        }
        ledger.withLock { $0.succeed(token, fresh: drain()) }
        return result
    }

    /// Takes the text out of libvips' buffer.
    static func drain() -> String {
        guard vips_error_buffer().pointee != 0, let text = vips_error_buffer_copy() else {
            return ""
        }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// Keeps libvips' warnings off the standard error stream, and for the run that caused them.
    static func captureWarnings() {
        let levels = GLogLevelFlags(
            rawValue: G_LOG_LEVEL_WARNING.rawValue | G_LOG_LEVEL_INFO.rawValue
                | G_LOG_LEVEL_MESSAGE.rawValue | G_LOG_LEVEL_DEBUG.rawValue)
        g_log_set_handler(
            "VIPS", levels,
            { _, level, text, _ in
                guard level.rawValue & G_LOG_LEVEL_WARNING.rawValue != 0, let text else { return }
                ErrorBuffer.ledger.withLock {
                    $0.warn(String(cString: text), thread: ErrorBuffer.currentThread)
                }
            }, nil)
    }

    private static var currentThread: UInt {
        UInt(pthread_self())
    }
}

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

    /// Registers the start of a call; `false` when calls are no longer allowed.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.count += 1
            return true
        }
    }

    func leave() {
        state.withLock { $0.count -= 1 }
    }

    /// Refuses calls from now on, and returns when none is under way, or after `milliseconds`.
    func close(waitingAtMost milliseconds: Int) {
        state.withLock { $0.isClosed = true }
        // Nobody who ends the program has a thread to be woken, and it happens once.
        var remaining = milliseconds
        while remaining > 0, state.withLock({ $0.count > 0 }) {
            usleep(1000)
            remaining -= 1
        }
    }

    /// Has the end of the program wait for calls. Libraries that are loaded by now are destroyed after
    /// that.
    static func closeAtExit() {
        atexit { OpenCalls.shared.close(waitingAtMost: OpenCalls.patience * 1000) }
    }
}

/// The failure of one libvips operation.
///
/// libvips has a single error buffer for all threads. `operation` is always exact. `message` is exact
/// when nothing else failed in the same moment; among concurrent failures lines go to the operation
/// whose nickname, pipeline or format they name, and a line that names none may reach more than one. While
/// libvips tries on some thread whether it can read something, it drops the messages of all of them.
/// It is meant for people and logs, not for telling kinds of failures apart.
public struct VipsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The nickname of the operation that failed, such as `jpegload_buffer`.
    public let operation: String

    /// libvips' own words, one line per message.
    public let message: String

    static let unexplained = "failed without a message"

    init(operation: String, message: String) {
        self.operation = operation
        self.message = message
    }

    public var description: String {
        // Many of libvips' messages begin with the name already.
        message.hasPrefix("\(operation): ") ? message : "\(operation): \(message)"
    }
}
