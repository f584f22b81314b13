import Foundation
import Halcyon

extension Benchmark {
    /// PNG, WebP and GIF: files to pixels, to smaller ones and to frames, and pixels to files; on one
    /// thread.
    static let otherFormats: [Benchmark] = [
        wholeFile("PNG", of: "1mp.png", target: 1.2),
        thumbnailOfFile("PNG", of: "1mp.png", target: 1.2),
        wholeFile("WebP", of: "1mp.webp", target: 1.1),
        thumbnailOfFile("WebP", of: "1mp.webp", target: 1.1),
        allFrames("WebP", of: "20-frames.webp"),
        allFrames("GIF", of: "20-frames.gif"),
        writing("PNG", .PNG, target: 3),
        writtenSize("PNG", .PNG, target: 1),
        writing("WebP", .WebP, target: 1),
        writtenSize("WebP", .WebP, target: 0.97),
    ]

    private static let libraries: [PeerLibrary] = [.systemVips, .bundledVips, .pillow, .openCV]
    /// How often a small piece of work is done for one figure.
    private static let repetitions = 5

    private static func targets(_ ratio: Double) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: libraries.map { ($0.name, ratio) })
    }

    private static func wholeFile(
        _ format: String, of photograph: String, target: Double
    ) -> Benchmark {
        Benchmark(
            "\(format) 1.1 MP to pixels", unit: .milliseconds, clock: .cpu,
            conditions: """
                From the file's bytes to all pixels in new memory: Image.decoding and bitmap(); \
                new_from_buffer and copy_memory of libvips, Image.load of Pillow, imdecode of OpenCV.
                """,
            targets: targets(target)
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            return Contest(
                ours: Contestant("Halcyon") {
                    try await Stopwatch.time { consume(try Image.decoding(data).bitmap()) }
                },
                peers: await contestants(workbench, request("file to pixels", file)))
        }
    }

    private static func thumbnailOfFile(
        _ format: String, of photograph: String, target: Double
    ) -> Benchmark {
        Benchmark(
            "\(format) 1.1 MP → 400 px", unit: .milliseconds, clock: .cpu,
            conditions: """
                DownsamplingImageProcessor, rendered; thumbnail_buffer of libvips, Image.thumbnail of \
                Pillow with Lanczos, imdecode and resize with INTER_AREA of OpenCV.
                """,
            targets: targets(target)
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            var request = request("file to thumbnail", file)
            request.width = 400
            request.height = 300
            return Contest(
                ours: Contestant("Halcyon") {
                    try await Stopwatch.time {
                        consume(try await Thumbnail.make(of: data, side: 400))
                    }
                },
                peers: await contestants(workbench, request))
        }
    }

    private static func allFrames(_ format: String, of photograph: String) -> Benchmark {
        Benchmark(
            "\(format), 20 frames of 400×300", unit: .milliseconds, clock: .cpu,
            conditions: """
                All frames of an animation in memory: Image.decoding with preloadAll; libvips has them \
                one below the other, Pillow as a list of RGB images.
                """,
            targets: targets(1.1)
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            let options = ImageCreatingOptions(preloadAll: true)
            return Contest(
                ours: Contestant("Halcyon") {
                    try await Stopwatch.time {
                        consume(try Image.decoding(data, options: options))
                    }
                },
                peers: await contestants(
                    workbench, request("file to frames", file),
                    of: [.systemVips, .bundledVips, .pillow]))
        }
    }

    private static let writingConditions = """
        Pixels of 400×300 to a file in memory, WebP with quality 80; libvips, Pillow and OpenCV with \
        their defaults otherwise.
        """

    private static func writing(
        _ name: String, _ format: ImageFormat, target: Double
    ) -> Benchmark {
        Benchmark(
            "\(name) 400×300 written", unit: .milliseconds, clock: .cpu,
            conditions: writingConditions, targets: targets(target)
        ) { workbench in
            let file = try workbench.photograph("400.png")
            let work = try writer(of: file, format)
            return Contest(
                ours: Contestant("Halcyon") {
                    try await Stopwatch.time(operations: repetitions) {
                        for _ in 0..<repetitions { consume(try work()) }
                    }
                },
                peers: await contestants(
                    workbench, writingRequest("file from pixels", file, format)))
        }
    }

    private static func writtenSize(
        _ name: String, _ format: ImageFormat, target: Double
    ) -> Benchmark {
        Benchmark(
            "\(name) 400×300 written: size", unit: .count(of: "bytes"),
            conditions: writingConditions, enoughRounds: 1, targets: targets(target)
        ) { workbench in
            let file = try workbench.photograph("400.png")
            let work = try writer(of: file, format)
            let request = writingRequest("file size", file, format)
            let workers = await workbench.peers(libraries)
            return Contest(
                ours: Contestant("Halcyon") { .amount(Double(try work().count)) },
                peers: libraries.compactMap { library in
                    workers[library].map { worker in
                        Contestant(library.name) { .amount(try await worker.number(request)) }
                    }
                })
        }
    }

    /// Writes the picture of a file, which is decoded beforehand.
    private static func writer(
        of file: URL, _ format: ImageFormat
    ) throws -> @Sendable () throws -> Data {
        let image = try Image.decoding(try Data(contentsOf: file))
        _ = try image.bitmap()
        // The level of the codecs is 1 + 99 · quality.
        let options = ImageEncodingOptions(quality: 79.0 / 99)
        return { try image.kf.data(format: format, options: options) }
    }

    private static func writingRequest(
        _ command: String, _ file: URL, _ format: ImageFormat
    ) -> PeerRequest {
        var request = request(command, file)
        request.repeat = repetitions
        request.format = format == .PNG ? "png" : "webp"
        request.quality = 80
        return request
    }

    private static func request(_ command: String, _ file: URL) -> PeerRequest {
        PeerRequest(command: command, photograph: file.path, width: 0, height: 0)
    }

    private static func contestants(
        _ workbench: Workbench, _ request: PeerRequest,
        of libraries: [PeerLibrary] = Benchmark.libraries
    ) async -> [Contestant] {
        let workers = await workbench.peers(libraries)
        return libraries.compactMap { library in
            workers[library].map { worker in
                Contestant(library.name) { try await worker.time(request) }
            }
        }
    }
}
