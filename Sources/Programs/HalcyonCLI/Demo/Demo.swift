import Foundation
import Halcyon
import HalcyonSamples

struct Demo: Sendable {
    private let samples: SamplePictures
    private let manager: KingfisherManager
    private let console: Console
    /// The number of concurrent loads of each picture.
    private static let callers = 3

    init(samples: SamplePictures, cacheDirectory: URL, console: Console) throws {
        self.samples = samples
        self.console = console
        let downloader = ImageDownloader(name: "halcyon-demo")
        downloader.resumption = DownloadResumption(
            directory: CacheLocation.partials(in: cacheDirectory.path))
        manager = KingfisherManager(
            downloader: downloader, cache: try CacheLocation.cache(in: cacheDirectory.path))
    }

    func run(output: URL) async throws {
        let origin = try SampleServer()
        defer { origin.stop() }
        let count = samples.names.count
        console.print("\(count) pictures from a server on this machine, \(origin.baseURL)")
        try serve(from: origin)
        let cold = try await load(origin, jobs: 6, callers: Self.callers, [.forceRefresh])
        let requests = origin.requestCount
        manager.cache.clearMemoryCache()
        let disk = try await load(origin, jobs: 1)
        let memory = try await load(origin, jobs: 1)
        let later = origin.requestCount - requests

        let table = DemoTable(names: samples.names, cold: cold, disk: disk, memory: memory)
        console.print(table.lines)
        console.print("")
        console.print(
            "\(count * Self.callers) loads at once made \(requests) requests; "
                + "\(count * 2) from disk and memory made \(later).")
        console.print(try await truncated(origin))
        let variants = try await variants(origin)
        let sheet = try await sheet(origin, table, variants)
        console.print("contact sheet: \(try await write(sheet, to: output).printable)")
    }

    private func serve(from origin: SampleServer) throws {
        for name in samples.names {
            let data = try samples.data(name)
            // In pieces, small pictures too, so that progress is visible and all callers have time
            // to join.
            origin.route(
                "/\(name)",
                SampleAnswer(
                    data, pieces: min(32 << 10, max(1, data.count / 4)), pause: .milliseconds(15)))
        }
    }

    /// Loads every picture; failures are printed and left out of the result.
    private func load(
        _ origin: SampleServer, jobs: Int, callers: Int = 1, _ extra: KingfisherOptionsInfo = []
    ) async throws -> DemoTable.Images {
        let options = LoadRequest.plainOptions + extra
        let loader = SourceLoader(
            manager: manager, options: options, writer: OutputWriter(plan: .nowhere, sources: []))
        let arguments = samples.names.map { ImageArgument(origin.url($0).absoluteString) }
        let batch = LoadBatch(arguments: arguments, jobs: jobs, console: console)
        var images: DemoTable.Images = [:]
        await batch.run { [manager] job in
            await withTaskGroup(of: Void.self) { group in
                for _ in 1..<callers {
                    group.addTask {
                        // It shares the result of the measured load.
                        guard let source = try? job.argument.source.get() else { return }
                        _ = try? await manager.retrieveImage(with: source, options: options)
                    }
                }
                return await loader.load(job)
            }
        } report: { row in
            if case .loaded(let image) = row.outcome {
                images[row.source.shortName] = image
            } else {
                console.print(row.line(style: console.outputStyle))
            }
        }
        try Task.checkCancellation()
        return images
    }

    /// Loads a truncated picture and returns a line about the result.
    private func truncated(_ origin: SampleServer) async throws -> String {
        let name = samples.names.first { $0.hasSuffix(".jpg") } ?? samples.names[0]
        origin.route("/truncated", SampleAnswer(try samples.data(name), end: .cutOff(after: 20000)))
        let url = origin.url("truncated")
        do {
            _ = try await manager.retrieveImage(with: url, options: LoadRequest.plainOptions)
            return "A picture that ends too early was taken for a whole one."
        } catch {
            let failure = LoadFailure(error)
            if failure.isCancellation { throw error }
            let cached = manager.cache.isCached(forKey: url.cacheKey)
            return "A picture that ends too early: error \(failure.code), "
                + (cached ? "cached." : "not cached.")
        }
    }

    private func variants(_ origin: SampleServer) async throws -> [ContactSheet.Tile] {
        var tiles: [ContactSheet.Tile] = []
        let clock = ContinuousClock()
        for variant in DemoVariant.all where samples.names.contains(variant.sample) {
            let processor = try ImageProcessorSpec.parse(variant.spec)
            let start = clock.now
            let result = try await manager.retrieveImage(
                with: origin.url(variant.sample),
                options: LoadRequest.options(processor: processor))
            let time = Quantity.milliseconds((clock.now - start).milliseconds)
            tiles.append(
                ContactSheet.Tile(
                    image: result.image,
                    label: [
                        variant.spec, "of \(variant.sample)", "\(result.image.extent)  \(time)",
                    ]))
        }
        return tiles
    }

    private func sheet(
        _ origin: SampleServer, _ table: DemoTable, _ variants: [ContactSheet.Tile]
    ) async throws -> ContactSheet {
        var tiles: [ContactSheet.Tile] = []
        for row in table.rows {
            // All are in memory by now.
            let result = try await manager.retrieveImage(
                with: origin.url(row.name), options: LoadRequest.plainOptions)
            tiles.append(ContactSheet.Tile(image: result.image, label: row.label))
        }
        return ContactSheet(
            title: "Halcyon",
            subtitle: "Image loading, caching and processing for Swift on Linux",
            sections: [
                .init(
                    title: "Loaded over HTTP: milliseconds cold, from disk, from memory",
                    tiles: tiles),
                .init(title: "Processed", tiles: variants),
            ], columns: 8)
    }

    private func write(_ sheet: ContactSheet, to output: URL) async throws -> String {
        try await BlockingWork.run {
            let png = try sheet.png()
            try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
            let path = output.appendingPathComponent("contact-sheet.png").path
            try PendingFile.write(png, to: path)
            return path
        }
    }
}

extension Image {
    fileprivate var extent: String { "\(pixelSize.width)×\(pixelSize.height)" }
}

enum DemoVariant {
    static let all: [(sample: String, spec: String)] = [
        ("chelsea.png", "round:40"), ("china.jpg", "bw"),
        ("flower.jpg", "crop:240x240|>round:w0.5"), ("rocket.jpg", "tint:#00508060"),
        ("coffee.webp", "blur:6"), ("retina.jpg", "border:40:#4fc3d9:60"),
        ("astronaut-progressive.jpg", "color:c=1.3,s=0.4"),
        ("kingfisher.svg", "overlay:#ff8000:0.7"),
    ]
}

struct DemoTable {
    struct Row {
        let name: String
        /// The image as loaded from the server, from disk and from memory.
        let loads: [LoadRow.Image]

        fileprivate var cold: LoadRow.Image { loads[0] }

        var label: [String] {
            [
                name,
                "\(cold.format.rawValue) \(extent) \(Quantity.bytes(Int64(cold.bytes)))",
                "ms " + times.joined(separator: " / "),
            ]
        }

        fileprivate var extent: String {
            "\(cold.width)×\(cold.height)" + (cold.frames > 1 ? "×\(cold.frames)" : "")
        }

        fileprivate var times: [String] {
            loads.map { String(Quantity.milliseconds($0.milliseconds).dropLast(3)) }
        }
    }

    typealias Images = [String: LoadRow.Image]

    let rows: [Row]

    init(names: [String], cold: Images, disk: Images, memory: Images) {
        rows = names.compactMap { name in
            let loads = [cold, disk, memory].compactMap { $0[name] }
            return loads.count == 3 ? Row(name: name, loads: loads) : nil
        }
    }

    var lines: [String] {
        var table = Table(
            .init(title: "source"), .init(title: "format"),
            .init(title: "bytes", alignment: .right), .init(title: "pixels", alignment: .right),
            .init(title: "cold ms", alignment: .right), .init(title: "disk ms", alignment: .right),
            .init(title: "memory ms", alignment: .right))
        for row in rows {
            table.add(
                [
                    row.name, row.cold.format.rawValue, Quantity.bytes(Int64(row.cold.bytes)),
                    row.extent,
                ] + row.times)
        }
        return table.lines
    }
}
