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
            enoughRounds: 5
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
        }
    ]
}
