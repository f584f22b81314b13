import Foundation
import Halcyon

extension Benchmark {
    /// Formats that not every peer reads, and colours of other spaces than sRGB; on one thread.
    static let modernFormats: [Benchmark] =
        [
            pixels("AVIF 1.1 MP", of: "1mp.avif", target: 1),
            thumbnail("AVIF 1.1 MP", of: "1mp.avif", target: 1),
            pixels("AVIF 12 MP", of: "12mp.avif", target: 1),
            thumbnail("AVIF 12 MP", of: "12mp.avif", target: 1),
            pixels("HEIC 1.1 MP", of: "1mp.heic", target: 0.95),
            thumbnail("HEIC 12 MP", of: "12mp.heic", target: 0.95),
            thumbnail("JPEG XL 12 MP", of: "12mp.jxl", target: 2),
        ] + wideColours + AVIFAtEqualQuality.benchmarks

    private static func pixels(
        _ name: String, of photograph: String, target: Double
    ) -> Benchmark {
        wholeFile(
            name, of: photograph, target: target, onlyReaders: true,
            conditions: """
                As for the other formats; Pillow with pillow-heif for HEIC. Peers that do not read the \
                file are left out.
                """)
    }

    private static func thumbnail(
        _ name: String, of photograph: String, target: Double
    ) -> Benchmark {
        thumbnailOfFile(
            name, of: photograph, target: target, onlyReaders: true,
            conditions: """
                As for the other formats; Pillow with pillow-heif for HEIC and pillow-jxl-plugin for \
                JPEG XL. Peers that do not read the file are left out.
                """)
    }

    private static let wideColours = [
        wideColour("JPEG 12 MP of Display P3", "12mp-p3.jpg", plain: "12mp.jpg"),
        wideColour("JPEG 12 MP of Adobe RGB", "12mp-adobe.jpg", plain: "12mp.jpg"),
        wideColour("PNG 1.1 MP of Display P3", "1mp-p3.png", plain: "1mp.png"),
        wideColour("WebP 1.1 MP of Display P3", "1mp-p3.webp", plain: "1mp.webp"),
        wideColour("AVIF 1.1 MP of Display P3", "1mp-p3.avif", plain: "1mp.avif"),
    ]

    /// Beside libvips, and beside the same picture without a profile.
    private static func wideColour(
        _ name: String, _ photograph: String, plain: String
    ) -> Benchmark {
        Benchmark(
            "\(name) → 400 px", unit: .milliseconds, clock: .cpu,
            conditions: """
                DownsamplingImageProcessor, whose pixels are in sRGB; thumbnail_buffer of libvips with that \
                as export_profile. The last peer is Halcyon with the same photograph in sRGB.
                """,
            targets: [PeerLibrary.bundledVips.name: 1.5, "Halcyon, sRGB": 1 / 1.3]
        ) { workbench in
            let file = try workbench.photograph(photograph)
            let data = try Data(contentsOf: file)
            let plain = try Data(contentsOf: workbench.photograph(plain))
            var request = thumbnailRequest(file)
            request.way = "sRGB"
            return Contest(
                ours: Contestant("Halcyon") { try await reduce(data) },
                peers: await contestants(
                    workbench, request, of: [.systemVips, .bundledVips], onlyReaders: true)
                    + [Contestant("Halcyon, sRGB") { try await reduce(plain) }])
        }
    }
}

/// AVIF files of one picture that are equally close to it: Pillow's with its defaults, and Halcyon's with the
/// least quality whose structural similarity is not below that.
private struct AVIFAtEqualQuality {
    private static let size = (width: 1200, height: 900)

    static let benchmarks = [
        benchmark("AVIF 1.1 MP written", .milliseconds, target: 1.5) { contest in
            Contestant(PeerLibrary.pillow.name, quality: { contest.least }) {
                try await contest.worker.time(contest.request("file from pixels"))
            }
        } ours: { contest in
            Contestant("Halcyon", quality: { contest.similarity }) {
                try await Stopwatch.time { consume(try contest.write()) }
            }
        },
        benchmark("AVIF 1.1 MP written: size", .count(of: "bytes"), target: nil) { contest in
            Contestant(PeerLibrary.pillow.name, quality: { contest.least }) {
                .amount(try await contest.worker.number(contest.request("file size")))
            }
        } ours: { contest in
            Contestant("Halcyon", quality: { contest.similarity }) {
                .amount(Double(try contest.write().count))
            }
        },
    ]

    private let image: Image
    private let file: URL
    private let options: ImageEncodingOptions
    let worker: PeerWorker
    /// The similarity of Pillow's file, and of ours.
    let least: Double
    let similarity: Double

    private func request(_ command: String) -> PeerRequest {
        PeerRequest(
            command: command, photograph: file.path, width: 0, height: 0, format: "avif")
    }

    private func write() throws -> Data { try image.kf.data(format: .AVIF, options: options) }

    private static func benchmark(
        _ name: String, _ unit: Unit, target: Double?,
        peer: @escaping @Sendable (Self) -> Contestant,
        ours: @escaping @Sendable (Self) -> Contestant
    ) -> Benchmark {
        Benchmark(
            name, unit: unit, clock: .cpu,
            conditions: """
                Pixels to a file in memory: Pillow with its defaults, Halcyon with the least quality whose \
                structural similarity to the pixels is not below Pillow's.
                """,
            targets: target.map { [PeerLibrary.pillow.name: $0] } ?? [:],
            quality: QualityClass(measure: .similarity, ours: 0, peers: 0)
        ) { workbench in
            guard let contest = try await Self.prepared(workbench) else {
                throw BenchmarkError("Pillow, which the files are compared with, is missing")
            }
            return Contest(ours: ours(contest), peers: [peer(contest)])
        }
    }

    /// `nil` without Pillow and the judge.
    private static func prepared(_ workbench: Workbench) async throws -> Self? {
        let workers = await workbench.peers([.pillow, .reference])
        guard let pillow = workers[.pillow], let judge = workers[.reference] else { return nil }
        let file = try workbench.photograph("1mp.png")
        let image = try Image.decoding(try Data(contentsOf: file))
        _ = try image.bitmap()
        let folder = try workbench.makeFolder()
        let pixels = folder.appending(path: "pixels")
        func similarity(_ encoded: Data) async throws -> Double {
            try Image.decoding(encoded).bitmap().rgb.write(to: pixels)
            return try await judge.number(
                PeerRequest(
                    command: "quality", photograph: file.path, width: size.width,
                    height: size.height, pixels: pixels.path,
                    measure: QualityClass.Measure.similarity.rawValue))
        }
        let written = folder.appending(path: "pillow.avif")
        _ = try await pillow.number(
            PeerRequest(
                command: "file to disk", photograph: file.path, width: 0, height: 0,
                format: "avif", pixels: written.path))
        let least = try await similarity(Data(contentsOf: written))
        // Levels of the codec; a higher one is never further away.
        var (low, high) = (1, 100)
        while low < high {
            let level = (low + high) / 2
            let encoded = try image.kf.data(format: .AVIF, options: options(level))
            if try await similarity(encoded) >= least { high = level } else { low = level + 1 }
        }
        let options = options(low)
        let ours = try await similarity(image.kf.data(format: .AVIF, options: options))
        return Self(
            image: image, file: file, options: options, worker: pillow, least: least,
            similarity: ours)
    }

    private static func options(_ level: Int) -> ImageEncodingOptions {
        ImageEncodingOptions(quality: CGFloat(level - 1) / 99)
    }
}
