import Foundation

extension Gauge {
    /// What the kernel tells of this process. Reads files of `/proc`, which do not block.
    static var process: [Gauge] {
        var gauges: [Gauge] = []
        // In millionths of a second, which POSIX has made the unit. The fields of `rusage` come from whichever
        // module of C was read first, which is not the same one in all kinds of builds.
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
                value: start))
        return gauges
    }

    private static let start = Date().timeIntervalSince1970

    private static func text(_ path: String) -> String? {
        // Without the file there is no number to tell.
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}
