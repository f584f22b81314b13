import Foundation
import Halcyon

/// A JPEG that is read at a smaller size, by Halcyon and by all peers.
struct JPEGReduction: Sendable {
    private static let libraries: [PeerLibrary] = [.systemVips, .bundledVips, .pillow]

    let photograph: String
    let width: Int
    let height: Int
    let quality: DownsamplingQuality
    /// How OpenCV does it: each is a peer.
    let ways: [OpenCVWay]
    /// `DirectCoding.skipsJPEGCoefficients`.
    var skipsCoefficients = true

    /// - Parameter target: The ratio to reach against each peer of the class.
    func benchmark(_ name: String, class qualityClass: QualityClass, target: Double) -> Benchmark {
        let names = Self.libraries.map(\.name) + ways.map(\.name)
        return Benchmark(
            name, unit: .milliseconds, clock: .cpu,
            conditions: """
                DownsamplingImageProcessor with that quality, rendered. Peers, timed inside Python: \
                thumbnail_buffer of libvips (cache off), Image.thumbnail of Pillow with Lanczos, \
                OpenCV's reduced decode with INTER_AREA. One thread each, CPU time of the process; \
                quality (ours / peer) is that against Lanczos-3 of all pixels in double precision. \
                Targets count against peers of at least 51 dB for best (48 dB where less than a \
                threefold reduction or a small source leaves no more), 36 dB for fast.
                """,
            targets: Dictionary(uniqueKeysWithValues: names.map { ($0, target) }),
            quality: qualityClass
        ) { workbench in
            try await contest(workbench, measure: qualityClass.measure)
        }
    }

    private func contest(_ workbench: Workbench, measure: QualityClass.Measure) async throws
        -> Contest
    {
        let file = try workbench.photograph(photograph)
        let data = try Data(contentsOf: file)
        let judge = try await QualityJudge(
            workbench, photograph: file, width: width, height: height, measure: measure)
        let workers = await workbench.peers(Self.libraries + [.openCV])

        let callers =
            Self.libraries.map { ($0, $0.name, nil as OpenCVWay?) }
            + ways.map { (.openCV, $0.name, $0) }
        let peers = callers.compactMap { library, name, way in
            workers[library].map { worker in
                let request = PeerRequest(
                    command: "time", photograph: file.path, width: width, height: height,
                    way: way?.rawValue)
                return Contestant(
                    name, quality: { try await judge?.judge(worker, request) },
                    sample: { try await worker.time(request) })
            }
        }
        return Contest(
            ours: Contestant(
                "Halcyon", quality: { try await judge?.judge(try await make(of: data)) },
                sample: { try await Stopwatch.time { consume(try await make(of: data)) } }),
            peers: peers)
    }

    private func make(of data: Data) async throws -> Image {
        DirectCoding.skipsJPEGCoefficients = skipsCoefficients
        defer { DirectCoding.skipsJPEGCoefficients = true }
        return try await Thumbnail.make(of: data, side: max(width, height), quality: quality)
    }
}

/// Compares thumbnails of one photograph with the exact one.
private struct QualityJudge: Sendable {
    private let judge: PeerWorker
    private let request: PeerRequest
    private let pixels: URL

    /// `nil` when there is no Python.
    init?(
        _ workbench: Workbench, photograph: URL, width: Int, height: Int,
        measure: QualityClass.Measure
    ) async throws {
        guard let judge = await workbench.peers([.reference])[.reference] else { return nil }
        self.judge = judge
        pixels = try workbench.makeFolder().appending(path: "pixels")
        request = PeerRequest(
            command: "quality", photograph: photograph.path, width: width, height: height,
            pixels: pixels.path, measure: measure.rawValue)
    }

    func judge(_ image: Image) async throws -> Double {
        try image.bitmap().rgb.write(to: pixels)
        return try await judge.number(request)
    }

    func judge(_ worker: PeerWorker, _ request: PeerRequest) async throws -> Double {
        var writing = request
        writing.command = "write"
        writing.pixels = pixels.path
        _ = try await worker.number(writing)
        return try await judge.number(self.request)
    }
}
