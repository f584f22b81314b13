import Foundation
public import Glibc
import HalcyonWork

/// Another program, started with `posix_spawn`.
///
/// Foundation's `Process` ties each child to a run loop and crashes now and then when several threads
/// start children at once; this starts them from any thread and waits on a thread of its own.
public final class ChildProcess: Sendable {
    public let processIdentifier: pid_t
    private let exit = Observed<Int32?>(nil)
    private let peak = Observed(0)

    /// The most memory that it had, in bytes; 0 until it has ended.
    public var peakMemory: Int { peak.value }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: `nil` for this process's own.
    ///   - directory: Where it runs; `nil` for the current directory.
    ///   - standardInput: A descriptor of this process; so the other two.
    public init(
        executable: String, arguments: [String], environment: [String: String]? = nil,
        directory: String? = nil, standardInput: Int32, standardOutput: Int32, standardError: Int32
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (new, old) in [(0, standardInput), (1, standardOutput), (2, standardError)] {
            posix_spawn_file_actions_adddup2(&actions, old, Int32(new))
        }
        Self.closeOthers(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let variables = environment ?? ProcessInfo.processInfo.environment
        var pid = pid_t()
        // Swift's Glibc lacks the call that changes the folder, so a shell does it and gives way.
        let command =
            directory.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] } ?? []
        let words = command + [executable] + arguments
        let status = withCStrings(words) { arguments in
            withCStrings(variables.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawn(&pid, words[0], &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EINVAL) }
        processIdentifier = pid
        Thread.detachNewThread { [pid, exit, peak] in
            var (status, usage) = (Int32(0), rusage())
            while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
            peak.update { [usage] in $0 = Int(usage.ru_maxrss) << 10 }
            exit.update { [status] in $0 = Self.exitCode(status) }
        }
    }

    /// Whether it has not ended, as far as is known.
    public var isRunning: Bool { exit.value == nil }

    /// The exit code as shells tell it: 128 and the signal's number for a program ended by a signal.
    /// `nil` when the waiting task is cancelled first.
    public func exitCode() async -> Int32? { await exit.wait(until: { $0 != nil }) ?? nil }

    public func send(_ signal: Int32) {
        guard isRunning else { return }
        kill(processIdentifier, signal)
    }

    /// Has a child close all descriptors but its first three. Sockets of other tests would otherwise stay open
    /// until its end, although these tests have closed them.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
        typealias Call =
            @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        // Swift's Glibc lacks this one, too.
        guard let address = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(address, to: Call.self)(&actions, 3)
    }

    private static func exitCode(_ status: Int32) -> Int32 {
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
