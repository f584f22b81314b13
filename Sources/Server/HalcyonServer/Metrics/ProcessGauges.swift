import Foundation

extension Gauge {
    /// The kernel's numbers about this process. Reads files of `/proc`, which do not block.
    static func process(since start: Date) -> [Gauge] {
        var gauges: [Gauge] = []
        // In microseconds, the unit fixed by POSIX. The fields of `rusage` come from whichever C
        // module was read first, which is not the same in all kinds of builds.
        let ticks = clock()
        if ticks >= 0 {
            gauges.append(
                Gauge(
                    "process_cpu_seconds_total", "Time of processors used.",
                    number: Double(ticks) / 1e6, type: "counter"))
        }
        // Without the file there is no number to report.
        let sizes = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        if let pages = sizes?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
            gauges.append(
                Gauge(
                    "process_resident_memory_bytes", "Memory in use.",
                    pages * sysconf(Int32(_SC_PAGESIZE))))
        }
        if let memory = ResidentMemory.current {
            let kinds = [
                ("anonymous", memory.anonymous), ("file", memory.ofFiles),
                ("shared", memory.shared),
            ]
            gauges += kinds.map { kind, bytes in
                Gauge(
                    "halcyon_resident_memory_bytes", "Memory in use, by its kind.", bytes,
                    [("kind", kind)])
            }
        }
        // A process may always look at its own descriptors; without a list there is no number.
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            gauges.append(Gauge("process_open_fds", "Open file descriptors.", open.count))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            gauges.append(
                Gauge(
                    "process_max_fds", "The most descriptors that may be open.",
                    number: Double(limit.rlim_cur)))
        }
        gauges.append(
            Gauge(
                "process_start_time_seconds", "When the process began, since 1970.",
                number: start.timeIntervalSince1970))
        return gauges
    }
}

/// The kernel's account of the memory that is resident, in bytes.
struct ResidentMemory {
    /// Memory of the process alone: heaps, stacks, pixels.
    let anonymous: Int
    /// Pages of files: the program, its libraries, files that are mapped.
    let ofFiles: Int
    let shared: Int

    /// `nil` where the kernel does not report it.
    static var current: ResidentMemory? {
        // Without the file there is no number to report.
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return nil
        }
        return ResidentMemory(status: text)
    }

    /// - Parameter status: The text of `/proc/PID/status`.
    init?(status: String) {
        let lines = status.split(separator: "\n")
        func bytes(_ name: String) -> Int? {
            lines.first { $0.hasPrefix(name) }?.split(whereSeparator: \.isWhitespace).dropFirst()
                .first.flatMap { Int($0) }.map { $0 * 1024 }
        }
        guard let anonymous = bytes("RssAnon:"), let ofFiles = bytes("RssFile:"),
            let shared = bytes("RssShmem:")
        else { return nil }
        self.anonymous = anonymous
        self.ofFiles = ofFiles
        self.shared = shared
    }
}
