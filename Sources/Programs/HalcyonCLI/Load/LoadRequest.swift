import Foundation
import Halcyon
import HalcyonWork

struct LoadRequest: Sendable {
    /// The cost limit of the memory cache, in bytes, for sources that are given more than once.
    private static let mostRepeatedPictures = 64 << 20

    let command: LoadCommand
    let arguments: [ImageArgument]
    let processor: (any ImageProcessor)?
    let plan: OutputPlan

    /// Loads all sources and prints a row for each; returns the number of failures.
    func run(_ console: Console) async throws -> Int {
        try await run(console) { loader, tally in
            let batch = LoadBatch(arguments: arguments, jobs: command.jobs, console: console)
            await run(batch, loader, of: arguments.count, &tally)
        }
    }

    /// Loads the pictures of a folder, and those that appear or change in it, until the watch is stopped.
    /// - Throws: `CommandFailure` when the folder is gone.
    func run(_ watch: FolderWatch, _ console: Console) async throws {
        _ = try await run(console) { loader, tally in
            if !command.quiet {
                console.note("Watching \(watch.folder.description.printable); Ctrl-C ends it.")
            }
            var sources = WatchedSources(
                watch.folder, allowsPDF: command.allowPDF, writer: loader.writer)
            while let files = try await watch.next() {
                let (changed, next) = try await BlockingWork.run { [sources] in
                    var sources = sources
                    return (sources.changed(files), sources)
                }
                sources = next
                var batch = LoadBatch(
                    arguments: changed.map(\.source), jobs: command.jobs, console: console)
                batch.places = changed.map(\.place)
                batch.isStopped = watch.hasEnded
                if !changed.isEmpty {
                    await run(batch, loader, of: tally.count + changed.count, &tally)
                    console.removeProgress()
                }
            }
        }
    }

    private func run(
        _ batch: LoadBatch, _ loader: SourceLoader, of count: Int, _ tally: inout LoadTally
    ) async {
        await batch.run(loader.load) { row in
            tally.count(row)
            batch.console.report(
                row, number: tally.count, of: count, isJSON: command.json, isQuiet: isQuiet)
        }
    }

    private var isQuiet: Bool { command.quiet || command.output.isStandardOutput }

    /// Does `work` with a loader, and prints the sums; returns the number of failures.
    private func run(
        _ console: Console, _ work: (SourceLoader, inout LoadTally) async throws -> Void
    ) async throws -> Int {
        let downloader = ImageDownloader(name: "halcyon")
        if let timeout = command.timeout { downloader.downloadTimeout = timeout }
        let cacheDirectory = command.cacheLocation.directory
        if command.resume {
            downloader.resumption = DownloadResumption(
                directory: CacheLocation.partials(in: cacheDirectory))
        }
        let cache = try CacheLocation.cache(in: cacheDirectory)
        cache.memoryStorage.config.totalCostLimit = Self.mostRepeatedPictures
        let manager = KingfisherManager(downloader: downloader, cache: cache)
        let recording = command.trace.map { _ in TraceRecording(of: manager) }
        let loader = SourceLoader(
            manager: manager, options: options,
            writer: OutputWriter(plan: plan, sources: arguments))
        let clock = ContinuousClock()
        let start = clock.now
        var tally = LoadTally()
        try await work(loader, &tally)
        await downloader.finishWritingPartials()
        if let trace = command.trace, let recording { try await recording.write(to: trace) }
        if !command.json && !isQuiet && !Task.isCancelled {
            console.print(tally.summary(after: clock.now - start, style: console.outputStyle))
        }
        return tally.failed
    }

    private var options: KingfisherOptionsInfo {
        var options = Self.options(processor: processor) + [.decodingLimits(command.limits)]
        if command.forceRefresh { options.append(.forceRefresh) }
        if command.noCache { options += [.forceRefresh, .cacheMemoryOnly] }
        if command.onlyFromCache { options.append(.onlyFromCache) }
        if command.httpCaching { options.append(.httpCaching(Self.httpCaching)) }
        return options + Self.options(of: arguments, keepsMetadata: plan.keepsMetadata)
    }

    /// The options that depend on the sources together.
    static func options(
        of arguments: [ImageArgument], keepsMetadata: Bool
    ) -> KingfisherOptionsInfo {
        var options = KingfisherOptionsInfo()
        if keepsMetadata { options.append(.keepPositionInOriginal) }
        // The decoded image of a source that is given more than once is used again.
        let keys = arguments.compactMap { try? $0.source.get().cacheKey }
        if Set(keys).count == keys.count { options.append(.memoryCacheExpiration(.expired)) }
        return options
    }

    /// Stale images are validated before use: the program waits for nothing in the background.
    private static let httpCaching: HTTPCaching = {
        var caching = HTTPCaching.on
        caching.staleWhileRevalidate = .never
        return caching
    }()

    /// Returns the options for loading, processing (if `processor` is given) and caching images.
    static func options(processor: (any ImageProcessor)?) -> KingfisherOptionsInfo {
        guard let processor else { return plainOptions }
        return plainOptions + [
            .processor(processor), .cacheSerializer(DefaultCacheSerializer.default),
        ]
    }

    /// The cache stores the downloaded bytes unchanged, before the image is delivered.
    static var plainOptions: KingfisherOptionsInfo {
        var serializer = DefaultCacheSerializer()
        serializer.preferCacheOriginalData = true
        return [.waitForCache, .cacheSerializer(serializer)]
    }
}

extension KingfisherOptionsInfo {
    /// The options with which the disk cache keeps the bytes of `source` only if they come from the network: files
    /// are read where they are. What a processor makes is kept in either case.
    func storing(_ source: Source) -> KingfisherOptionsInfo {
        let options = KingfisherParsedOptionsInfo(self)
        if options.cacheMemoryOnly { return self }
        let isProcessed = !options.processor.identifier.isEmpty
        return switch source {
        case .network: isProcessed ? self + [.cacheOriginalImage] : self
        case .provider: isProcessed ? self : self + [.cacheMemoryOnly]
        }
    }
}

/// The numbers of loaded sources by origin and of failures, and the loaded bytes.
struct LoadTally {
    private(set) var failed = 0
    private(set) var skipped = 0
    private(set) var bytes: Int64 = 0
    private var found: [CacheType: Int] = [:]

    var count: Int { failed + skipped + loaded }
    private var loaded: Int { found.values.reduce(0, +) }

    mutating func count(_ row: LoadRow) {
        switch row.outcome {
        case .loaded(let image):
            found[image.cacheType, default: 0] += 1
            bytes += Int64(image.bytes)
        case .skipped: skipped += 1
        case .failed: failed += 1
        }
    }

    func summary(after duration: Duration, style: TextStyle) -> String {
        var parts = [Quantity.count(loaded, "image")]
        let counts = [CacheType.none, .disk, .memory].compactMap { type in
            found[type].map { "\($0) \(type.origin)" }
        }
        if !counts.isEmpty { parts[0] += " (\(counts.joined(separator: ", ")))" }
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if failed > 0 { parts.append(style(.red, "\(failed) failed")) }
        parts.append(Quantity.bytes(bytes))
        return parts.joined(separator: ", ") + " in \(Quantity.milliseconds(duration.milliseconds))"
    }
}
