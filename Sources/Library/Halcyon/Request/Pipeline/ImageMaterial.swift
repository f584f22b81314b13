import Foundation
import HalcyonWork

/// The input of one or more requests, with the images made from it: each kind of image is made
/// once, and each file written once, regardless of the number of requests.
///
/// Images are kept as long as the material, since its holders may still ask for one.
final class ImageMaterial: Sendable {
    enum Failure: Error {
        case unprocessed
        case undecodable
    }

    typealias Made = Result<Image, Failure>

    /// The kind of an image; requests with equal kinds share it.
    struct Kind: Hashable, Sendable {
        let processor: String
        let creating: ImageCreatingOptions
        let isRendered: Bool
    }

    typealias Images = SharedWork<Kind, Made>

    /// The loaded bytes, or a cached original.
    let item: ImageProcessItem
    let files = ImageFiles()
    /// The cached file from which the original was read.
    let file: Data?
    private let images = Images()

    init(_ item: ImageProcessItem, file: Data? = nil) {
        self.item = item
        self.file = file
    }

    /// Makes the image for `options`, on their `processingQueue` or else on the decoding pool, unless it
    /// is made or in progress.
    ///
    /// - Parameters:
    ///   - limits: The limits in place of those of the options.
    ///   - rendering: Whether its pixels have to be in memory.
    ///   - handle: The caller's task, whose cancellation ends the wait: `completion` gets `nil`.
    ///   - completion: Called once, on the thread that made the image, or at once if it exists.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, limits: DecodingLimits? = nil,
        rendering: Bool = true, for handle: DownloadTask,
        completion: @escaping @Sendable (Made?) -> Void
    ) {
        var creating = options.imageCreatingOptions
        if let limits { creating.limits = limits }
        let kind = Kind(
            processor: options.processor.identifier, creating: creating, isRendered: rendering)
        let isOver = OneShot<Void>()
        // Never released: images are kept as long as the material.
        let retention = images.retain(kind)
        let ticket = images.ask(for: kind, during: retention) { made in
            if isOver.give(()) { completion(made) }
        } work: { work, finish in
            var options = options
            if let limits { options.decodingLimits = limits }
            item.process(options, rendering: rendering, while: { work.isWanted }) { image in
                finish(image.map(Made.success) ?? .failure(self.failure()))
            }
        }
        guard let ticket else { return }
        handle.onCancel(before: isOver) { [self] in
            if images.leave(ticket) != nil, isOver.give(()) { completion(nil) }
        }
    }

    private func failure() -> Failure {
        guard file != nil, case .image(let image) = item else { return .unprocessed }
        do {
            _ = try image.bitmap()
            return .unprocessed
        } catch {
            // The error of a cached file is useless to callers that will load it anew.
            return .undecodable
        }
    }
}

/// Loaded bytes, as received by one of the callers.
struct LoadedData: Sendable {
    let data: Data
    /// The data, with the images made from it for all callers.
    let material: ImageMaterial
    let metrics: NetworkMetrics?
    /// The download; `nil` for the bytes of a data provider or a subclass of the downloader.
    let task: SessionDataTask?
    /// The downloader's limits for decoding on behalf of this caller; `nil` for the limits of the
    /// options.
    private(set) var limits: DecodingLimits?

    init(_ data: Data, of task: SessionDataTask? = nil, metrics: NetworkMetrics? = nil) {
        self.data = data
        self.task = task
        self.metrics = metrics ?? task?.metrics
        material = ImageMaterial(.data(data))
    }

    /// The URL that was requested, after the request modifier.
    var url: URL? { task?.originalURL }

    func limited(by limits: DecodingLimits) -> LoadedData {
        var copy = self
        copy.limits = limits
        return copy
    }

    /// Makes the image for `options` within the limits, on behalf of `handle`, which may still be
    /// cancelled.
    ///
    /// - Parameters:
    ///   - cancellation: The error after a cancellation, for bytes that are not from a download.
    ///   - completion: Called once, on the thread that made the image, or at once if it exists.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true, for handle: DownloadTask,
        cancellation: @escaping @Sendable () -> KingfisherError = {
            .requestError(reason: .asyncTaskContextCancelled)
        },
        completion: @escaping @Sendable (Result<Image, KingfisherError>) -> Void
    ) {
        material.makeImage(options, limits: limits, rendering: rendering, for: handle) { made in
            switch made {
            case nil:
                let error = task.map { task in
                    KingfisherError.requestError(
                        reason: .taskCancelled(task: task, token: handle.cancelToken ?? 0))
                }
                completion(.failure(error ?? cancellation()))
            case .failure:
                completion(.failure(.unprocessed(.data(data), by: options.processor)))
            case .success(let image):
                completion(.success(image))
            }
        }
    }
}

extension ImageProcessItem {
    /// Makes the rendered image of this item with the processor of `options`, on
    /// `options.processingQueue` or else on the decoding pool; `nil` on failure. Without
    /// `rendering` the pixels may not be in memory. Ends early with `nil` when no longer wanted.
    func process(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        while isWanted: @escaping @Sendable () -> Bool = { true },
        completion: @escaping @Sendable (KFCrossPlatformImage?) -> Void
    ) {
        // Only measured for listeners.
        let asked = options.events.map { _ in ContinuousClock.now }
        let work: @Sendable () -> Void = {
            completion(
                isWanted()
                    ? processed(options, rendering: rendering, askedAt: asked, while: isWanted)
                    : nil)
        }
        if let queue = options.processingQueue {
            queue.execute(work)
        } else {
            DecodingPool.shared.submit(work)
        }
    }

    /// Makes the rendered image of this item with the processor of `options`.
    /// - Throws: `processingFailed`.
    func processed(
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        let image = await handedOver { hand in process(options, completion: hand) }
        guard let image else { throw .unprocessed(self, by: options.processor) }
        return image
    }

    /// Whether the item is neither an animation nor the first frame of one.
    private var isStill: Bool {
        switch self {
        case .image(let image): image.frameCount == 1 && !image.isFirstFrame
        // Unreadable data counts as still.
        case .data(let data): (try? Image.decoding(data))?.animation == nil
        }
    }

    /// The image by the processor of `options`. The default processor is not asked for one whose pixels are wanted
    /// right away: decoders then need not be asked twice.
    private func made(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool
    ) -> KFCrossPlatformImage? {
        guard rendering, options.processor is DefaultImageProcessor, case .data(let data) = self
        else { return options.processor.process(item: self, options: options) }
        // As the processor, which cannot report the reason.
        return try? Image.decoding(data, options: options.imageCreatingOptions, forPixels: true)
    }

    private func processed(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool,
        askedAt asked: ContinuousClock.Instant?, while isWanted: () -> Bool
    ) -> KFCrossPlatformImage? {
        let start = asked.map { _ in ContinuousClock.now }
        guard let result = made(options, rendering: rendering) else {
            ProcessingFailures.shared.note(fault(options), of: self, by: options.processor)
            return nil
        }
        let image = result.made(for: options.imageCreatingOptions, ofStill: isStill)
        guard isWanted() else { return nil }
        let ready = asked.map { _ in ContinuousClock.now }
        defer {
            if let asked, let start, let ready {
                options.events?.note(
                    .made(
                        waiting: start - asked, processing: ready - start,
                        rendering: ContinuousClock.now - ready))
            }
        }
        if !rendering { return image }
        do {
            _ = try options.preloadAllAnimationData ? image.allBitmaps() : [image.bitmap()]
            return image
        } catch {
            ProcessingFailures.shared.note(
                cause(of: error, options), of: self, by: options.processor)
            return nil
        }
    }
}

extension KingfisherError {
    static func unprocessed(_ item: ImageProcessItem, by processor: any ImageProcessor)
        -> KingfisherError
    {
        .processorError(reason: .processingFailed(processor: processor, item: item))
    }
}
