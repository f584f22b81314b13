import Foundation

/// What the figures were measured on and with.
struct Machine: Sendable {
    let lines: [String]

    static func described(by workbench: Workbench) async -> Machine {
        let system = ProcessInfo.processInfo
        var lines = [
            "Processor: \(processor), \(system.activeProcessorCount) cores",
            "Memory: \(system.physicalMemory >> 30) GB",
            "System: \(distribution), Linux \(kernel)",
            await swiftVersion,
        ]
        let peers = await workbench.peers(PeerLibrary.allCases.filter { $0 != .reference })
        for library in PeerLibrary.allCases {
            if let worker = peers[library] {
                lines.append("\(library.name): \(worker.version)")
            }
        }
        return Machine(lines: lines)
    }

    private static var processor: String {
        value(of: "model name", in: "/proc/cpuinfo", separator: ":") ?? "unknown"
    }

    private static var kernel: String {
        (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8))
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? "unknown"
    }

    private static var distribution: String {
        value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=")?
            .trimmingCharacters(in: ["\""]) ?? "unknown"
    }

    private static var swiftVersion: String {
        get async {
            // The figures do not depend on whether the compiler can be asked.
            let text = try? await ChildProcess.output(
                of: URL(filePath: "/usr/bin/env"), ["swift", "--version"])
            return text?.split(separator: "\n").first.map(String.init) ?? "Swift: unknown"
        }
    }

    private static func value(of field: String, in file: String, separator: Character) -> String? {
        // A description may lack a line.
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: separator, maxSplits: 1)
            if parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == field {
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }
}
