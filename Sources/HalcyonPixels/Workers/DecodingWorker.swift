import CWorker
package import Foundation
import Glibc
import HalcyonWork
import Synchronization

/// Which pictures are decoded in processes of their own, so that no file, however made, ends or stalls this one.
///
/// Most decoders are libraries in C, C++ or Rust that abort, crash or spin for some file. A worker is this same program,
/// started once more with nothing but memory that both share: it cannot open files but fonts, nor connections, and what
/// ends it ends one picture.
public enum DecodingIsolation: String, Sendable, CaseIterable {
    /// None: a picture that ends its decoder ends the program.
    case none
    /// SVG, PDF, HEIC, AVIF, JPEG XL and TIFF. The decoders of JPEG, PNG, GIF and WebP, which are in daily use with hostile
    /// input everywhere, stay in this process.
    case foreign
    /// All formats but BMP and ICO, whose decoders are Halcyon's own.
    case all

    /// What counts for pictures that are opened from now on; ``foreign`` by default. It is ``none``, whatever is set,
    /// in programs that have not called ``DecodingWorker/runIfAsked()``: they cannot be started as a worker.
    public static var current: DecodingIsolation {
        get { state.withLock { $0.isPossible ? $0.chosen : .none } }
        set { state.withLock { $0.chosen = newValue } }
    }

    /// Has what is chosen count.
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

/// The process that decodes pictures for another one.
public enum DecodingWorker {
    private static let argument = "--halcyon-decoding-worker"

    /// Makes this program one whose pictures are decoded in processes of their own (``DecodingIsolation``). To be called
    /// first of all in `main`: in such a process it does not return.
    ///
    /// ```swift
    /// @main
    /// struct Viewer {
    ///     static func main() async {
    ///         DecodingWorker.runIfAsked()
    ///         // What the program does.
    ///     }
    /// }
    /// ```
    public static func runIfAsked() {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == argument, let parent = pid_t(arguments[2]),
            let memory = UInt64(arguments[3])
        {
            WorkerService.run(parent: parent, memory: memory)
        }
        // Its name may be one in the current folder, which may be another later.
        _ = program
        DecodingIsolation.allow()
    }

    static func arguments(_ program: String, _ memory: Int) -> [String] {
        let name = CommandLine.arguments.first ?? program
        return [name, argument, "\(getpid())", "\(memory)"]
    }

    /// The program that is started.
    package static var program: String {
        get { chosenProgram.withLock { $0 } }
        set { chosenProgram.withLock { $0 = newValue } }
    }

    private static let chosenProgram = Mutex(ownProgram)

    /// This program's file, whatever its name is by now; by its name where there is no `/proc`.
    private static var ownProgram: String {
        let link = "/proc/self/exe"
        guard access(link, X_OK) != 0, let name = cworker_program() else { return link }
        guard let path = realpath(name, nil) else { return String(cString: name) }
        defer { free(path) }
        return String(cString: path)
    }

    /// Where lines about workers go, such as what one has written to its standard error stream. Nowhere by default.
    package static var report: (@Sendable (String) -> Void)? {
        get { reporting.withLock { $0 } }
        set { reporting.withLock { $0 = newValue } }
    }

    private static let reporting = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Runs in workers before each request is answered: for tests, to do what a decoder should not.
    package static var beforeDecoding: (@Sendable (DecodingWorkerTrial) -> Void)? {
        get { trial.withLock { $0 } }
        set { trial.withLock { $0 = newValue } }
    }

    private static let trial = Mutex<(@Sendable (DecodingWorkerTrial) -> Void)?>(nil)

    /// What decoding needs of this program's environment. Secrets are none of it.
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

    /// Starts a worker now, for the first picture not to wait for it.
    package static func prepare() { DecodingWorkers.shared.prepare() }

    /// The processes that are there now.
    package static var processes: [Int32] { DecodingWorkers.shared.processIdentifiers }

    /// What has become of workers so far.
    package static var statistics: DecodingWorkerStatistics { DecodingWorkers.shared.statistics }
}

/// A request that a worker is about to answer.
package struct DecodingWorkerTrial: Sendable {
    /// The file.
    package let data: Data
    /// The number by which the request is answered.
    package let id: UInt64
    /// Whether only its header is asked for.
    package let isOpening: Bool
}

/// Counts of workers.
package struct DecodingWorkerStatistics: Sendable, Equatable {
    /// That are there now.
    package var alive = 0
    package var started = 0
    /// That a file has ended.
    package var died = 0
    /// That took too long.
    package var killed = 0
    /// Bytes that those that are there have for themselves.
    package var memory = 0
}
