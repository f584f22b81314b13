import CProcesses
package import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// The formats that are decoded in worker processes, so that no file can end or stall this process.
///
/// Most decoders are libraries in C, C++ or Rust that abort, crash or spin for some file. A worker is the same program,
/// started again behind a sandbox, with memory that both processes share. A crash in it fails one picture.
public enum DecodingIsolation: String, Sendable, CaseIterable {
    /// No format. A file that crashes its decoder ends the program.
    case none
    /// SVG, PDF, HEIC, AVIF, JPEG XL and TIFF. JPEG, PNG, GIF and WebP stay in this process: their decoders meet hostile
    /// input everywhere, every day.
    case foreign
    /// All formats but BMP and ICO, whose decoders are Halcyon's own.
    case all

    /// The setting for files opened from now on; ``foreign`` by default. Always ``none`` in a program that has not called
    /// ``DecodingWorker/runIfAsked()``, because it cannot be started as a worker.
    public static var current: DecodingIsolation {
        get { state.withLock { $0.isPossible ? $0.chosen : .none } }
        set { state.withLock { $0.chosen = newValue } }
    }

    static func allow() { state.withLock { $0.isPossible = true } }

    private struct State {
        var chosen = DecodingIsolation.foreign
        var isPossible = false
    }

    private static let state = Mutex(State())

    func covers(_ format: ImageFormat) -> Bool {
        switch self {
        case .none: false
        case .foreign: [.SVG, .PDF, .HEIC, .AVIF, .JPEGXL, .TIFF].contains(format)
        case .all: ![.BMP, .ICO, .unknown].contains(format)
        }
    }
}

/// A process that decodes files for the program that started it.
public enum DecodingWorker {
    private static let argument = "--halcyon-decoding-worker"

    /// Lets this program decode in workers (``DecodingIsolation``). Call it first in `main`: in a worker it does not return.
    ///
    /// ```swift
    /// static func main() async {
    ///     DecodingWorker.runIfAsked()
    ///     // The rest of the program.
    /// }
    /// ```
    public static func runIfAsked() {
        let arguments = commandLine
        if arguments.count == 4, arguments[1] == argument, let parent = pid_t(arguments[2]),
            let memory = UInt64(arguments[3])
        {
            WorkerService.run(parent: parent, memory: memory)
        }
        // Resolve the path now: it may be relative to the current folder.
        _ = program
        DecodingIsolation.allow()
    }

    /// The arguments of this program. `CommandLine` reads them from `/proc`, which may be missing.
    package static var commandLine: [String] {
        let count = cworker_argument_count()
        guard count > 0 else { return CommandLine.arguments }
        return (0..<count).compactMap { cworker_argument($0).map { String(cString: $0) } }
    }

    static func arguments(_ program: String, _ memory: Int) -> [String] {
        let name = commandLine.first ?? program
        return [name, argument, "\(getpid())", "\(memory)"]
    }

    package static var program: String {
        get { chosenProgram.withLock { $0 } }
        set { chosenProgram.withLock { $0 = newValue } }
    }

    private static let chosenProgram = Mutex(ownProgram)

    /// This program's file, even if it was renamed or replaced; without `/proc`, the path it was started by.
    private static var ownProgram: String {
        let link = "/proc/self/exe"
        guard access(link, X_OK) != 0, let name = cworker_program() else { return link }
        guard let path = realpath(name, nil) else { return String(cString: name) }
        defer { free(path) }
        return String(cString: path)
    }

    /// Called with log lines about workers, and with lines that workers write to standard error. `nil` by default.
    package static var report: (@Sendable (String) -> Void)? {
        get { reporting.withLock { $0 } }
        set { reporting.withLock { $0 = newValue } }
    }

    private static let reporting = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Runs in workers before each request. For tests, to misbehave as a decoder might.
    package static var beforeDecoding: (@Sendable (DecodingWorkerTrial) -> Void)? {
        get { trial.withLock { $0 } }
        set { trial.withLock { $0 = newValue } }
    }

    private static let trial = Mutex<(@Sendable (DecodingWorkerTrial) -> Void)?>(nil)

    /// The variables of this program's environment that decoding needs. Secrets are left out.
    static var environment: [String] {
        let names: Set = [
            "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR",
            "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE",
        ]
        let prefixes = ["LC_", "XDG_", "FONTCONFIG_", "VIPS_", "LIBHEIF_", "HALCYON_LIBRARY_"]
        let kept = ProcessInfo.processInfo.environment.filter { name, _ in
            names.contains(name) || prefixes.contains { name.hasPrefix($0) }
        }
        return kept.map { "\($0)=\($1)" } + ["MALLOC_ARENA_MAX=2", "SWIFT_BACKTRACE=enable=no"]
    }

    package static var processes: [Int32] { DecodingWorkers.shared.processIdentifiers }

    /// The process that forks workers.
    package static var template: Int32? { DecodingWorkers.shared.templateIdentifier }

    package static var statistics: DecodingWorkerStatistics { DecodingWorkers.shared.statistics }
}

package struct DecodingWorkerTrial: Sendable {
    package let data: Data
    /// The identifier that the answer has to carry.
    package let id: UInt64
    package let isOpening: Bool
}

package struct DecodingWorkerStatistics: Sendable, Equatable {
    package var alive = 0
    package var started = 0
    package var died = 0
    /// Workers killed because of a time limit or a cancellation.
    package var killed = 0
    /// Private resident memory of the living workers, in bytes.
    package var memory = 0
}
