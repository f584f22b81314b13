import Foundation

package struct MemoryLimit {
    /// The folder of `/proc` and `/sys`.
    package var root = "/"
    /// The memory of the machine in bytes.
    package var physicalMemory = ProcessInfo.processInfo.physicalMemory
    /// The resource limits of this process, of addresses and of data (`ulimit -v` and `-d`).
    package var resourceLimits: [UInt64]

    package init(
        root: String = "/",
        physicalMemory: UInt64 = ProcessInfo.processInfo.physicalMemory,
        resourceLimits: [UInt64] = [RLIMIT_AS, RLIMIT_DATA].map(Self.resourceLimit)
    ) {
        self.root = root
        self.physicalMemory = physicalMemory
        self.resourceLimits = resourceLimits
    }

    /// The limit in bytes: the smallest of the physical memory, the limits of the process's control
    /// groups (version 1 or 2) and their parents, and its own limits.
    package var bytes: UInt64 {
        (controlGroupLimits + resourceLimits).reduce(physicalMemory, min)
    }

    private static func resourceLimit(_ resource: __rlimit_resource) -> UInt64 {
        var limit = rlimit()
        // `RLIM_INFINITY` is the largest number.
        return getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
            ? UInt64(limit.rlim_cur) : .max
    }

    private var controlGroupLimits: [UInt64] {
        guard let groups = text(of: "proc/self/cgroup") else { return [] }
        return groups.split(separator: "\n").flatMap { line -> [UInt64] in
            // hierarchy:controllers:path; version 2 has the hierarchy 0 and no controllers.
            let fields = line.split(
                separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            let path = fields[2].split(separator: "/").map(String.init)
            if fields[0] == "0", fields[1].isEmpty {
                return limits(below: "sys/fs/cgroup", path: path, file: "memory.max")
            }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return limits(
                below: "sys/fs/cgroup/memory", path: path, file: "memory.limit_in_bytes")
        }
    }

    /// The limits of a group and all its parents. "max" and missing files are no limit.
    private func limits(below mount: String, path: [String], file: String) -> [UInt64] {
        (0...path.count).compactMap { depth in
            let folder = [mount] + path.prefix(depth)
            return text(of: (folder + [file]).joined(separator: "/"))
                .flatMap { UInt64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
    }

    private func text(of path: String) -> String? {
        // An unreadable file sets no limit.
        try? String(
            contentsOf: URL(fileURLWithPath: root).appendingPathComponent(path), encoding: .utf8)
    }
}
