import CVips
import Glibc
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
                ErrorBuffer.note(warning: String(cString: text))
            }, nil)
    }

    private static func note(warning: String) {
        ledger.withLock { $0.warn(warning, thread: currentThread) }
    }

    private static var currentThread: UInt {
        UInt(pthread_self())
    }
}
