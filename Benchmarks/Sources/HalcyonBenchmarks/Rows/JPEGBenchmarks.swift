import Foundation
import Halcyon

extension Benchmark {
    /// From a JPEG's bytes to RGB pixels of a smaller size, on one thread.
    static let jpeg: [Benchmark] = [
        reduction("JPEG 12 MP → 400 px", of: "12mp.jpg", to: (400, 300), openCV: .eighth, .quarter),
        reduction("JPEG 1.1 MP → 400 px", of: "1mp.jpg", to: (400, 300), openCV: .half),
        reduction("JPEG 0.1 MP → 200 px", of: "400.jpg", to: (200, 150), openCV: .half),
    ]

    private static func reduction(
        _ name: String, of photograph: String, to size: (width: Int, height: Int),
        openCV ways: OpenCVWay...
    ) -> Benchmark {
        Benchmark(
            name, unit: .milliseconds, clock: .cpu,
            conditions: """
                DownsamplingImageProcessor, rendered. Peers, timed inside Python: thumbnail_buffer \
                of libvips (cache off), Image.thumbnail of Pillow with Lanczos, OpenCV's reduced \
                decode with INTER_AREA. One thread each, CPU time of the process; quality (ours / \
                peer) is the PSNR against Lanczos-3 of all pixels in double precision.
                """
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            let quality = try await QualityJudge(
                workbench, photograph: file, width: size.width, height: size.height)
            let request = PeerRequest(
                command: "time", photograph: file.path, width: size.width, height: size.height)

            let workers = await workbench.peers([.systemVips, .bundledVips, .pillow, .openCV])
            var peers: [Contestant] = []
            for library in [PeerLibrary.systemVips, .bundledVips, .pillow] {
                guard let worker = workers[library] else { continue }
                peers.append(
                    Contestant(library.name, quality: { try await quality?.judge(worker, request) })
                    { try await worker.time(request) })
            }
            for way in ways {
                guard let worker = workers[.openCV] else { continue }
                var request = request
                request.way = way.rawValue
                peers.append(
                    Contestant(
                        way.name,
                        quality: { [request] in try await quality?.judge(worker, request) }
                    ) { [request] in try await worker.time(request) })
            }

            let side = max(size.width, size.height)
            return Contest(
                ours: Contestant(
                    "Halcyon",
                    quality: {
                        try await quality?.judge(try await Thumbnail.make(of: data, side: side))
                    }
                ) {
                    try await Stopwatch.time {
                        consume(try await Thumbnail.make(of: data, side: side))
                    }
                },
                peers: peers)
        }
    }
}

/// The part of the size at which OpenCV decodes a JPEG before it resizes; the least that is not
/// below the target is the fast way, the one above it the better one.
enum OpenCVWay: String, Sendable {
    case half
    case quarter
    case eighth

    var name: String {
        switch self {
        case .half: "OpenCV (1/2, area)"
        case .quarter: "OpenCV (1/4, area)"
        case .eighth: "OpenCV (1/8, area)"
        }
    }
}

/// Compares thumbnails of one photograph with the exact one.
private struct QualityJudge: Sendable {
    private let judge: PeerWorker
    private let request: PeerRequest
    private let pixels: URL

    /// `nil` when there is no Python.
    init?(_ workbench: Workbench, photograph: URL, width: Int, height: Int) async throws {
        guard let judge = await workbench.peers([.reference])[.reference] else { return nil }
        self.judge = judge
        pixels = try workbench.makeFolder().appending(path: "pixels")
        request = PeerRequest(
            command: "quality", photograph: photograph.path, width: width, height: height,
            pixels: pixels.path)
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
