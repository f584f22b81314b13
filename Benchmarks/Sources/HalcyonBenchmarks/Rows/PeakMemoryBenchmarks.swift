import Foundation

extension Benchmark {
    /// What one decode needs beside the file's bytes.
    static let peakMemory: [Benchmark] = [
        Benchmark(
            "JPEG 12 MP → 400 px: peak memory", unit: .megabytes,
            conditions: """
                Resident memory at the peak of one decode, above that before it, in a process of its \
                own that has read the file and decoded a small one; the result is part of it.
                """,
            enoughRounds: 5,
            targets: [PeerLibrary.systemVips.name: 1, PeerLibrary.pillow.name: 1]
        ) { workbench in
            let photograph = try workbench.photograph("12mp.jpg")
            let small = try workbench.photograph("64.jpg")
            let available = await workbench.peers([.systemVips, .bundledVips, .pillow, .openCV])

            func peer(_ library: PeerLibrary, _ name: String, way: OpenCVWay? = nil)
                -> Contestant?
            {
                guard available[library] != nil else { return nil }
                return Contestant(name) {
                    let worker = try await workbench.freshPeer(library)
                    _ = try await worker.number(
                        PeerRequest(
                            command: "warm-up", photograph: small.path, width: 16, height: 12,
                            way: way == nil ? nil : OpenCVWay.half.rawValue))
                    let bytes = try await worker.number(
                        PeerRequest(
                            command: "peak", photograph: photograph.path, width: 400, height: 300,
                            way: way?.rawValue))
                    await worker.close()
                    return .amount(bytes)
                }
            }

            return Contest(
                ours: Contestant("Halcyon") {
                    let text = try await ChildProcess.output(
                        of: Workbench.executable, ["peak", small.path, photograph.path, "400"])
                    guard let bytes = Double(text.trimmingCharacters(in: .newlines)) else {
                        throw BenchmarkError("The process did not print its peak memory")
                    }
                    return .amount(bytes)
                },
                peers: [
                    peer(.systemVips, PeerLibrary.systemVips.name),
                    peer(.bundledVips, PeerLibrary.bundledVips.name),
                    peer(.pillow, PeerLibrary.pillow.name),
                    peer(.openCV, OpenCVWay.quarter.name, way: .quarter),
                ].compactMap { $0 })
        },
        Benchmark(
            "100 JPEGs 12 MP → 400 px: peak memory", unit: .megabytes,
            conditions: """
                The same for 100 different photographs, one after another, read from files. What the \
                first ten need is enough for the others when nothing is left behind; the kernel counts \
                resident pages to about 0.4 MB.
                """,
            enoughRounds: 3,
            targets: [
                PeerLibrary.systemVips.name: 1, PeerLibrary.pillow.name: 1, "the first ten": 0.85,
            ]
        ) { workbench in
            let series = try workbench.photograph("series")
            let small = try workbench.photograph("64.jpg")
            let available = await workbench.peers([.systemVips, .pillow])

            func peer(_ library: PeerLibrary) -> Contestant? {
                guard available[library] != nil else { return nil }
                return Contestant(library.name) {
                    let worker = try await workbench.freshPeer(library)
                    _ = try await worker.number(
                        PeerRequest(
                            command: "warm-up", photograph: small.path, width: 16, height: 12))
                    let bytes = try await worker.number(
                        PeerRequest(
                            command: "peak-series", photograph: series.path, width: 400,
                            height: 300))
                    await worker.close()
                    return .amount(bytes)
                }
            }

            @Sendable func ours(_ line: Int) async throws -> Sample {
                let text = try await ChildProcess.output(
                    of: Workbench.executable,
                    ["series", small.path, series.path, "400"])
                let lines = text.split(separator: "\n").compactMap { Double($0) }
                guard lines.count == 2 else {
                    throw BenchmarkError("The process did not print its peak memory")
                }
                return .amount(lines[line])
            }
            return Contest(
                ours: Contestant("Halcyon") { try await ours(1) },
                peers: [Contestant("the first ten") { try await ours(0) }]
                    + [peer(.systemVips), peer(.pillow)].compactMap { $0 })
        },
    ]
}
