import Foundation
import Halcyon

extension Benchmark {
    /// From a JPEG's bytes to RGB pixels of a smaller size, on one thread, in both qualities.
    static let jpeg: [Benchmark] = [
        best("12 MP → 400 px", of: "12mp.jpg", to: (400, 300), .quarter, target: 1.1),
        fast("12 MP → 400 px", of: "12mp.jpg", to: (400, 300), .eighth, target: 1),
        best("12 MP → 800 px", of: "12mp.jpg", to: (800, 600), .half, target: 1.1),
        fast("12 MP → 800 px", of: "12mp.jpg", to: (800, 600), .quarter, target: 1),
        best("12 MP → 1600 px", of: "12mp.jpg", to: (1600, 1200), .full, target: 1.3),
        fast("12 MP → 1600 px", of: "12mp.jpg", to: (1600, 1200), .half, target: 1),
        best("24 MP → 400 px", of: "24mp.jpg", to: (400, 267), .quarter, target: 1.1),
        fast("24 MP → 400 px", of: "24mp.jpg", to: (400, 267), .eighth, target: 1),
        best(
            "12 MP progressive → 400 px", of: "12mp-progressive.jpg", to: (400, 300), .quarter,
            target: 1.1),
        fast(
            "12 MP progressive → 400 px", of: "12mp-progressive.jpg", to: (400, 300), .eighth,
            target: 5),
        best("1.1 MP → 400 px", of: "1mp.jpg", to: (400, 300), .full, target: 1.5),
        fast("1.1 MP → 400 px", of: "1mp.jpg", to: (400, 300), .half, target: 1),
        best("1.1 MP → 200 px", of: "1mp.jpg", to: (200, 150), .half, target: 1.5),
        fast("1.1 MP → 200 px", of: "1mp.jpg", to: (200, 150), .quarter, target: 1),
        best("0.1 MP → 200 px", of: "400.jpg", to: (200, 150), .full, target: 1.1),
        fast("0.1 MP → 200 px", of: "400.jpg", to: (200, 150), .half, target: 1),
    ]

    private static func best(
        _ name: String, of photograph: String, to size: (width: Int, height: Int),
        _ way: OpenCVWay, target: Double
    ) -> Benchmark {
        reduction(
            "JPEG \(name), best", of: photograph, to: size, quality: .best, way: way,
            libraries: [.systemVips, .bundledVips, .pillow], target: target)
    }

    private static func fast(
        _ name: String, of photograph: String, to size: (width: Int, height: Int),
        _ way: OpenCVWay, target: Double
    ) -> Benchmark {
        reduction(
            "JPEG \(name), fast", of: photograph, to: size, quality: .fast, way: way,
            libraries: [.bundledVips], target: target)
    }

    private static func reduction(
        _ name: String, of photograph: String, to size: (width: Int, height: Int),
        quality reductionQuality: DownsamplingQuality, way: OpenCVWay, libraries: [PeerLibrary],
        target: Double
    ) -> Benchmark {
        Benchmark(
            name, unit: .milliseconds, clock: .cpu,
            conditions: """
                DownsamplingImageProcessor with that quality, rendered. Peers, timed inside Python: \
                thumbnail_buffer of libvips (cache off), Image.thumbnail of Pillow with Lanczos, \
                OpenCV's reduced decode with INTER_AREA, at twice the size or more for best, at the \
                size or more for fast. One thread each, CPU time of the process; quality (ours / \
                peer) is the PSNR against Lanczos-3 of all pixels in double precision.
                """,
            targets: Dictionary(
                uniqueKeysWithValues: (libraries.map(\.name) + [way.name]).map { ($0, target) })
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            let quality = try await QualityJudge(
                workbench, photograph: file, width: size.width, height: size.height)
            let request = PeerRequest(
                command: "time", photograph: file.path, width: size.width, height: size.height)

            let workers = await workbench.peers(libraries + [.openCV])
            var peers: [Contestant] = []
            for library in libraries + [.openCV] {
                guard let worker = workers[library] else { continue }
                var request = request
                if library == .openCV { request.way = way.rawValue }
                peers.append(
                    Contestant(
                        library == .openCV ? way.name : library.name,
                        quality: { [request] in try await quality?.judge(worker, request) }
                    ) { [request] in try await worker.time(request) })
            }

            let side = max(size.width, size.height)
            return Contest(
                ours: Contestant(
                    "Halcyon",
                    quality: {
                        try await quality?.judge(
                            try await Thumbnail.make(
                                of: data, side: side, quality: reductionQuality))
                    }
                ) {
                    try await Stopwatch.time {
                        consume(
                            try await Thumbnail.make(
                                of: data, side: side, quality: reductionQuality))
                    }
                },
                peers: peers)
        }
    }
}

/// The part of the size at which OpenCV decodes a JPEG before it resizes; the least that is not
/// below the target is the fast way, the one above it the better one.
enum OpenCVWay: String, Sendable {
    case full
    case half
    case quarter
    case eighth

    var name: String {
        switch self {
        case .full: "OpenCV (1/1, area)"
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
