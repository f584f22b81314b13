import Foundation
import Halcyon
import HalcyonWork

/// Loads or prefetches a list of sources concurrently, and reports their rows in the order of the list.
///
/// Not a `WorkTable`: equal sources are shared by their requests.
struct LoadBatch: Sendable {
    let arguments: [ImageArgument]
    /// The maximum number of concurrent loads; at least 1.
    let jobs: Int
    let console: Console
    /// Whether the progress has a line for each running source; otherwise it is a bar for all of them.
    var showsSources = true
    /// The place of each source among the outputs; by default in their order.
    var places: [Int]?
    /// Whether no further source is started.
    var isStopped: @Sendable () -> Bool = { false }

    /// Runs `load` for each source and calls `report` with the rows, in order.
    ///
    /// Once the task is cancelled, no further source is started, and failures by cancellation are
    /// not reported.
    func run<Row: BatchRow & Sendable>(
        _ load: @escaping @Sendable (Job) async -> Row, report: (Row) -> Void
    ) async {
        console.beginProgress(
            ProgressBoard(sourceCount: arguments.count, showsTotalBar: !showsSources))
        var rows = ResultSequencer<Row>()
        await withTaskGroup(of: (Int, Row).self) { group in
            var waiting = arguments.indices.makeIterator()
            func startNext() {
                guard !Task.isCancelled, !isStopped(), let index = waiting.next() else { return }
                let job = Job(
                    index: index, place: places?[index] ?? index, argument: arguments[index],
                    console: console)
                group.addTask { (index, await job.run(load)) }
            }
            for _ in 0..<jobs { startNext() }
            while let (index, row) = await group.next() {
                startNext()
                for row in rows.finish(index, with: row) where !row.isCancelled {
                    report(row)
                }
            }
        }
    }

    struct Job: Sendable {
        let index: Int
        let place: Int
        let argument: ImageArgument
        let console: Console

        func run<Row: BatchRow & Sendable>(_ load: @Sendable (Job) async -> Row) async -> Row {
            console.progress { [index, argument] in $0.start(index, label: argument.shortName) }
            let row = await load(self)
            console.progress { [index] in $0.finish(index, failed: row.isFailure) }
            return row
        }

        func receive(_ received: Int64, of total: Int64) {
            console.progress { [index] in $0.receive(index, received: received, total: total) }
        }
    }
}

/// Loads one source through the manager, writes it if requested, and returns the result row.
struct SourceLoader: Sendable {
    let manager: KingfisherManager
    let options: KingfisherOptionsInfo
    let writer: OutputWriter

    func load(_ job: LoadBatch.Job) async -> LoadRow {
        do {
            let source = try job.argument.source.get()
            return LoadRow(source: job.argument, outcome: try await outcome(source, of: job))
        } catch {
            let failure = LoadFailure(error, of: job.argument)
            return LoadRow(source: job.argument, outcome: .failed(failure))
        }
    }

    private func outcome(
        _ source: Source, of job: LoadBatch.Job
    ) async throws -> LoadRow.Outcome {
        if let file = try await writer.fileToLeave(for: job) { return .skipped(file) }
        let clock = ContinuousClock()
        let start = clock.now
        let options = options.storing(source)
        let result = try await manager.retrieveImage(with: source, options: options) {
            job.receive($0, of: $1)
        }
        let duration = clock.now - start
        let bytes = try await sourceBytes(of: result, KingfisherParsedOptionsInfo(options))
        let format = bytes.kf.imageFormat
        var image = LoadRow.Image(
            cacheKey: source.cacheKey, cacheType: result.cacheType,
            httpCacheUse: result.httpCacheUse, format: format, width: result.image.pixelSize.width,
            height: result.image.pixelSize.height, frames: result.image.frameCount,
            bytes: bytes.count, milliseconds: duration.milliseconds)
        switch try await writer.write(
            result.image, original: try await original(of: result, bytes: bytes),
            format: try await fileFormat(of: job.argument, result) ?? format,
            isProcessed: isProcessed, of: job)
        {
        case .left(let file): return .skipped(file)
        case .written(let file, let quality): (image.output, image.foundQuality) = (file, quality)
        }
        return .loaded(image)
    }

    /// The format of a local file that was not read: what was made of it may be cached in another.
    private func fileFormat(
        of argument: ImageArgument, _ result: RetrieveImageResult
    ) async throws -> ImageFormat? {
        guard result.cacheType.cached, let file = argument.file else { return nil }
        return try await BlockingWork.run { try file.read(atMost: 1 << 16).kf.imageFormat }
    }

    /// The bytes that were loaded, for a processed image those that were cached.
    private func sourceBytes(
        of result: RetrieveImageResult, _ options: KingfisherParsedOptionsInfo
    ) async throws -> Data {
        let isCached = result.cacheType.cached
        let identifier = isCached ? processorIdentifier : ""
        if isCached || options.cacheOriginalImage,
            let data = try await cachedBytes(of: result, identifier)
        {
            return data
        }
        // Of what is in memory only, there are no bytes but those of the source.
        if isCached, !isProcessed, let data = await localBytes(of: result) { return data }
        return try await BlockingWork.run { result.data() ?? Data() }
    }

    /// The bytes of the unprocessed image, as far as they are needed and can be had.
    private func original(of result: RetrieveImageResult, bytes: Data) async throws -> Data {
        guard writer.plan.keepsMetadata, result.cacheType.cached, isProcessed else { return bytes }
        // What is cached may have been cached without the position.
        if let data = await localBytes(of: result) { return data }
        return try await cachedBytes(of: result, "") ?? bytes
    }

    /// The bytes of a source that is not on the network; `nil` also for a file that is gone by now.
    private func localBytes(of result: RetrieveImageResult) async -> Data? {
        guard case .provider(let provider) = result.source else { return nil }
        return try? await provider.data()
    }

    private func cachedBytes(
        of result: RetrieveImageResult, _ processorIdentifier: String
    ) async throws -> Data? {
        let (cache, key) = (manager.cache, result.source.cacheKey)
        return try await BlockingWork.run {
            // The file may have been removed meanwhile, or never written.
            cache.cacheFileURLIfOnDisk(forKey: key, processorIdentifier: processorIdentifier)
                .flatMap { try? Data(contentsOf: $0) }
        }
    }

    private var isProcessed: Bool { !processorIdentifier.isEmpty }

    private var processorIdentifier: String {
        KingfisherParsedOptionsInfo(options).processor.identifier
    }
}
