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
                    name: "process_cpu_seconds_total", help: "Time of processors used.",
                    type: "counter", value: Double(ticks) / 1e6))
        }
        if let pages = text("/proc/self/statm")?.split(separator: " ").dropFirst().first
            .flatMap({ Double($0) })
        {
            gauges.append(
                Gauge(
                    name: "process_resident_memory_bytes", help: "Memory in use.",
                    value: pages * Double(sysconf(Int32(_SC_PAGESIZE)))))
        }
        if let memory = ResidentMemory.current {
            let kinds = [
                ("anonymous", memory.anonymous), ("file", memory.ofFiles),
                ("shared", memory.shared),
            ]
            gauges += kinds.map { kind, bytes in
                Gauge(
                    name: "halcyon_resident_memory_bytes", help: "Memory in use, by its kind.",
                    labels: [("kind", kind)], value: Double(bytes))
            }
        }
        // A process may always look at its own descriptors; without a list there is no number.
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            gauges.append(
                Gauge(
                    name: "process_open_fds", help: "Open file descriptors.",
                    value: Double(open.count)))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            gauges.append(
                Gauge(
                    name: "process_max_fds", help: "The most descriptors that may be open.",
                    value: Double(limit.rlim_cur)))
        }
        gauges.append(
            Gauge(
                name: "process_start_time_seconds", help: "When the process began, since 1970.",
                value: start.timeIntervalSince1970))
        return gauges
    }

    private static func text(_ path: String) -> String? {
        // Without the file there is no number to report.
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}

/// The kernel's account of the memory that is resident, in bytes.
struct ResidentMemory {
    /// Memory of the process alone: heaps, stacks, pixels.
    let anonymous: Int
    /// Pages of files: the program, its libraries, files that are mapped.
    let ofFiles: Int
    /// Memory that processes share.
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
