import Foundation
import Halcyon

extension Benchmark {
    /// Whole files to pixels, files of other formats than JPEG to smaller pictures and to frames, and
    /// pixels to files; on one thread.
    static let formats: [Benchmark] =
        [
            wholeFile("JPEG 64×64", of: "64.jpg", repeating: 50, target: 1.1),
            wholeFile("JPEG 400×300", of: "400.jpg", repeating: 10, target: 1.1),
            wholeFile("JPEG 1.1 MP", of: "1mp.jpg", target: 1.1),
            wholeFile("JPEG 12 MP", of: "12mp.jpg", target: 1.1),
            wholeFile("PNG 1.1 MP", of: "1mp.png", target: 1.2),
            thumbnailOfFile("PNG 1.1 MP", of: "1mp.png", target: 1.2),
            wholeFile("WebP 1.1 MP", of: "1mp.webp", target: 1.1),
            thumbnailOfFile("WebP 1.1 MP", of: "1mp.webp", target: 1.1),
            allFrames("WebP", of: "20-frames.webp"),
            allFrames("GIF", of: "20-frames.gif"),
            allFrames("APNG", of: "20-frames.png", by: [.pillow], target: 1.5),
        ] + written("JPEG 400×300", of: "400.png", .JPEG, target: 1.1, size: 0.97)
        + written("JPEG 1600×1200", of: "1600.jpg", .JPEG, target: 1.1, size: 0.97)
        + written("PNG 400×300", of: "400.png", .PNG, target: 3, size: 0.96)
        + written("WebP 400×300", of: "400.png", .WebP, target: 1, size: 0.97)

    /// All that read and write pictures.
    static let libraries: [PeerLibrary] = [.systemVips, .bundledVips, .pillow, .openCV]

    private static func targets(_ ratio: Double) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: libraries.map { ($0.name, ratio) })
    }

    /// How files are read, where a row says nothing else.
    private enum Conditions {
        static let wholeFile = """
            From the file's bytes to all pixels in new memory: Image.decoding and bitmap(); \
            new_from_buffer and copy_memory of libvips, Image.load of Pillow, imdecode of OpenCV. \
            Small files several times for one figure.
            """
        static let thumbnail = """
            DownsamplingImageProcessor, rendered; thumbnail_buffer of libvips, Image.thumbnail of \
            Pillow with Lanczos, imdecode and resize with INTER_AREA of OpenCV.
            """
    }

    /// - Parameter onlyReaders: Leaves out the peers that do not read the file, as a first try tells.
    static func wholeFile(
        _ name: String, of photograph: String, repeating: Int = 1, target: Double,
        onlyReaders: Bool = false,
        conditions: String? = nil
    ) -> Benchmark {
        Benchmark(
            "\(name) to pixels", unit: .milliseconds, clock: .cpu,
            conditions: conditions ?? Conditions.wholeFile,
            targets: targets(target)
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            var request = request("file to pixels", file)
            request.repeat = repeating
            return Contest(
                ours: Contestant("Halcyon") {
                    try await Stopwatch.time(operations: repeating) {
                        for _ in 0..<repeating {
                            consume(try Image.decoding(data).bitmap())
                        }
                    }
                },
                peers: await contestants(workbench, request, onlyReaders: onlyReaders))
        }
    }

    /// - Parameter onlyReaders: Leaves out the peers that do not read the file, as a first try tells.
    static func thumbnailOfFile(
        _ name: String, of photograph: String, target: Double, onlyReaders: Bool = false,
        conditions: String? = nil
    ) -> Benchmark {
        Benchmark(
            "\(name) → 400 px", unit: .milliseconds, clock: .cpu,
            conditions: conditions ?? Conditions.thumbnail,
            targets: targets(target)
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            return Contest(
                ours: Contestant("Halcyon") { try await reduce(data) },
                peers: await contestants(
                    workbench, thumbnailRequest(file), onlyReaders: onlyReaders))
        }
    }

    static func reduce(_ data: Data) async throws -> Sample {
        try await Stopwatch.time { consume(try await Thumbnail.make(of: data, side: 400)) }
    }

    /// For a picture of the size that `reduce` makes.
    static func thumbnailRequest(_ file: URL) -> PeerRequest {
        PeerRequest(command: "file to thumbnail", photograph: file.path, width: 400, height: 300)
    }

    private static func allFrames(
        _ format: String, of photograph: String,
        by libraries: [PeerLibrary] = [.systemVips, .bundledVips, .pillow], target: Double = 1.1
    ) -> Benchmark {
        Benchmark(
            "\(format), 20 frames of 400×300", unit: .milliseconds, clock: .cpu,
            conditions: """
                All frames of an animation in memory: Image.decoding with preloadAll; libvips has them \
                one below the other, Pillow as a list of RGB images.
                """,
            targets: targets(target)
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
                    workbench, request("file to frames", file), of: libraries))
        }
    }

    /// Two rows: the time, and how large the file is.
    private static func written(
        _ name: String, of photograph: String, _ format: ImageFormat, target: Double, size: Double
    ) -> [Benchmark] {
        let conditions = """
            Pixels to a file in memory, JPEG and WebP with quality 80; libvips, Pillow and OpenCV with \
            their defaults otherwise. Small pictures several times for one figure.
            """
        let repetitions = 5
        var targets = targets(target)
        // OpenCV's level is not a default of zlib's: it writes larger files.
        if format == .PNG { targets[PeerLibrary.openCV.name] = 1 }
        return [
            Benchmark(
                "\(name) written", unit: .milliseconds, clock: .cpu, conditions: conditions,
                targets: targets
            ) { workbench in
                let file = try workbench.photograph(photograph)
                let work = try writer(of: file, format)
                var request = writingRequest("file from pixels", file, format)
                request.repeat = repetitions
                return Contest(
                    ours: Contestant("Halcyon") {
                        try await Stopwatch.time(operations: repetitions) {
                            for _ in 0..<repetitions { consume(try work()) }
                        }
                    },
                    peers: await contestants(workbench, request))
            },
            Benchmark(
                "\(name) written: size", unit: .count(of: "bytes"), conditions: conditions,
                enoughRounds: 1, targets: Benchmark.targets(size)
            ) { workbench in
                let file = try workbench.photograph(photograph)
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
            },
        ]
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
        request.format = [.JPEG: "jpg", .PNG: "png", .WebP: "webp"][format]
        request.quality = 80
        return request
    }

    private static func request(_ command: String, _ file: URL) -> PeerRequest {
        PeerRequest(command: command, photograph: file.path, width: 0, height: 0)
    }

    static func contestants(
        _ workbench: Workbench, _ request: PeerRequest,
        of libraries: [PeerLibrary] = Benchmark.libraries, onlyReaders: Bool = false
    ) async -> [Contestant] {
        let workers = await workbench.peers(libraries)
        var contestants: [Contestant] = []
        for library in libraries {
            guard let worker = workers[library] else { continue }
            do {
                if onlyReaders { _ = try await worker.time(request) }
                contestants.append(Contestant(library.name) { try await worker.time(request) })
            } catch {
                Progress.say("Without \(library.rawValue): \(error)")
            }
        }
        return contestants
    }
}
