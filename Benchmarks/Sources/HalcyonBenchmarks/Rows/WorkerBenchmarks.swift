import Foundation
import Glibc
import Halcyon

extension Benchmark {
    /// Decoding in a process of its own, beside the same decoder in this one; processor time of both processes.
    static let workers: [Benchmark] = [
        worker("AVIF 0.1 MP", times: 10) {
            try await $0.photograph("400.jpg", as: .AVIF)
        },
        worker("TIFF 1 MP", times: 5) { try await $0.photograph("1mp.jpg", as: .TIFF) },
        worker("TIFF 12 MP", times: 1) { try await $0.photograph("12mp.jpg", as: .TIFF) },
        worker("a small SVG", times: 20) { _ in
            Data(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" \
                fill="#fa0"/><circle cx="32" cy="32" r="20" fill="#09c"/></svg>
                """.utf8)
        },
    ]

    /// Seconds of processor time that a picture may cost more in a worker, beside 3 %.
    private static let allowance = 0.000_15

    private static func worker(
        _ name: String, times: Int, file: @escaping @Sendable (Workbench) async throws -> Data
    ) -> Benchmark {
        Benchmark(
            "\(name) in a worker", unit: .milliseconds, clock: .cpu,
            conditions: """
                From the file's bytes to all pixels; processor time of this process and of those that decode for \
                it. The peer is the same decoder in this process, and once more with the 0.15 ms that handing a \
                picture over may cost.
                """,
            targets: ["in the process, and 0.15 ms": 0.97]
        ) { workbench in
            let data = try await file(workbench)
            func contestant(
                _ name: String, _ isolation: DecodingIsolation, more: Double = 0
            ) -> Contestant {
                Contestant(name) {
                    DecodingIsolation.current = isolation
                    defer { DecodingIsolation.current = .none }
                    let before = WorkerTime.seconds
                    let sample = try await Stopwatch.time(operations: times) {
                        for _ in 0..<times { consume(try Image.rendering(data).bitmap()) }
                    }
                    return sample.adding(
                        cpu: (WorkerTime.seconds - before) / Double(times) + more)
                }
            }
            return Contest(
                ours: contestant("Halcyon", .foreign),
                peers: [
                    contestant("in the process", .none),
                    contestant("in the process, and 0.15 ms", .none, more: allowance),
                ])
        }
    }
}

extension Workbench {
    /// A photograph written in another format.
    fileprivate func photograph(_ name: String, as format: ImageFormat) throws -> Data {
        let image = try Image.decoding(Data(contentsOf: photograph(name)))
        return try image.kf.data(format: format, options: ImageEncodingOptions())
    }
}

/// The processor time of the processes that this one has started.
private enum WorkerTime {
    static var seconds: Double {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let children = names.compactMap { pid_t($0) }.filter { process in
            // "number (name) state parent …", and the name may have anything in it.
            let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = text?.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && pid_t(fields[1]) == getpid()
        }
        return children.reduce(0) { sum, child in
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(child, &clock) == 0, clock_gettime(clock, &time) == 0 else {
                return sum
            }
            return sum + Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
    }
}
