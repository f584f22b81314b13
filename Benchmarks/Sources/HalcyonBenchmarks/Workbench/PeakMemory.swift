import Foundation

/// The resident memory of this process at its peak, in bytes.
enum PeakMemory {
    /// Begins a new peak at what is resident now, and returns that.
    static func restart() throws -> Int {
        do {
            try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        } catch {
            // Not allowed in some containers: the peak so far is the start then.
            return try current()
        }
        return try bytes("VmRSS")
    }

    static func current() throws -> Int { try bytes("VmHWM") }

    private static func bytes(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(field + ":") {
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
            if let kilobytes, let number = Int(kilobytes) { return number * 1024 }
        }
        throw BenchmarkError("/proc/self/status has no \(field)")
    }
}
