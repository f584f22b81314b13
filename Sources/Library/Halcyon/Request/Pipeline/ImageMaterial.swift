import Foundation
import HalcyonWork

/// What one or more requests make images of, and what has been made of it: each kind of image once,
/// however many ask, and each file written once.
///
/// Images are kept as long as the material: whoever has it may still ask for one.
final class ImageMaterial: Sendable {
    /// Why there is no image.
    enum Failure: Error {
        /// The processor made none.
        case unprocessed
        /// The cached file is damaged.
        case undecodable
    }

    typealias Made = Result<Image, Failure>

    /// Two requests want the same image when these are equal.
    struct Kind: Hashable, Sendable {
        let processor: String
        let creating: ImageCreatingOptions
        let isRendered: Bool
    }

    typealias Images = SharedWork<Kind, Made>

    /// Bytes as they were loaded, or a cached original.
    let item: ImageProcessItem
    /// The files written of this material.
    let files = ImageFiles()
    /// The cached file that the original was read from.
    let file: Data?
    private let images = Images()

    init(_ item: ImageProcessItem, file: Data? = nil) {
        self.item = item
        self.file = file
    }

    /// Makes the image that `options` ask for, on their `processingQueue`, by default on the decoding
    /// pool, unless it has been made or is being made.
    ///
    /// - Parameters:
    ///   - limits: Instead of those of the options.
    ///   - rendering: Whether its pixels have to be in memory.
    ///   - completion: Called on the thread that made it, or at once when it is made already; not after
    ///     the caller has left.
    /// - Returns: Identifies this caller; `nil` when the image was there.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, limits: DecodingLimits? = nil,
        rendering: Bool = true, completion: @escaping @Sendable (Made) -> Void
    ) -> Images.Ticket? {
        var creating = options.imageCreatingOptions
        if let limits { creating.limits = limits }
        let kind = Kind(
            processor: options.processor.identifier, creating: creating, isRendered: rendering)
        // Never released: an image is kept as long as the material.
        let retention = images.retain(kind)
        return images.ask(for: kind, during: retention, completion: completion) { work, finish in
            var options = options
            if let limits { options.decodingLimits = limits }
            item.process(options, rendering: rendering, while: { work.isWanted }) { image in
                finish(image.map(Made.success) ?? .failure(self.failure()))
            }
        }
    }

    /// The same for the holder of `handle`, whose cancellation ends its wait.
    ///
    /// - Parameter completion: Called once; with `nil` after a cancellation.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, limits: DecodingLimits? = nil,
        rendering: Bool = true, for handle: DownloadTask,
        completion: @escaping @Sendable (Made?) -> Void
    ) {
        let isOver = OneShot<Void>()
        let ticket = makeImage(options, limits: limits, rendering: rendering) { made in
            if isOver.give(()) { completion(made) }
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
            // What is wrong with a cached file is of no use to those who will load it anew.
            return .undecodable
        }
    }
}

/// Bytes that were loaded, as one of those who asked for them gets them.
struct LoadedData: Sendable {
    let data: Data
    /// The data and what is made of it for all who asked.
    let material: ImageMaterial
    let metrics: NetworkMetrics?
    /// The download; `nil` for the bytes of a data provider or a subclass of the downloader.
    let task: SessionDataTask?
    /// What the downloader refuses to decode for this caller; `nil` for the limits of the options.
    private(set) var limits: DecodingLimits?

    init(_ data: Data, metrics: NetworkMetrics? = nil) {
        self.data = data
        self.metrics = metrics
        material = ImageMaterial(.data(data))
        task = nil
    }

    /// The bytes of a finished download.
    init(_ data: Data, of task: SessionDataTask) {
        self.data = data
        self.task = task
        metrics = task.metrics
        material = ImageMaterial(.data(data))
    }

    /// The URL that was requested, after the request modifier.
    var url: URL? { task?.originalURL }

    /// The same for a caller with these limits.
    func limited(by limits: DecodingLimits) -> LoadedData {
        var copy = self
        copy.limits = limits
        return copy
    }

    /// Makes the image that `options` ask for, within the limits, for the holder of `handle`, who may
    /// still cancel.
    ///
    /// - Parameters:
    ///   - cancellation: The error after a cancellation of what no download has brought.
    ///   - completion: Called once, on the thread that made it, or at once when it is made already.
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
    /// The rendered image that the processor of `options` makes of this item, or `nil`; made on
    /// `options.processingQueue`, by default on the decoding pool. Without `rendering` it may be
    /// one whose pixels are not in memory. Ends early with `nil` when it is no longer wanted.
    func process(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        while isWanted: @escaping @Sendable () -> Bool = { true },
        completion: @escaping @Sendable (KFCrossPlatformImage?) -> Void
    ) {
        // Only for those who listen.
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

    /// The rendered image that the processor of `options` makes of this item.
    /// - Throws: `processingFailed`.
    func processed(
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        let image = await handedOver { hand in process(options, completion: hand) }
        guard let image else { throw .unprocessed(self, by: options.processor) }
        return image
    }

    /// Whether it is no animation, nor the first frame of one.
    private var isStill: Bool {
        switch self {
        case .image(let image): image.frameCount == 1 && !image.isFirstFrame
        // What cannot be read does not move.
        case .data(let data): (try? Image.decoding(data))?.animation == nil
        }
    }

    private func processed(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool,
        askedAt asked: ContinuousClock.Instant?, while isWanted: () -> Bool
    ) -> KFCrossPlatformImage? {
        let start = asked.map { _ in ContinuousClock.now }
        guard let result = options.processor.process(item: self, options: options) else {
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
    /// The failure of a processor.
    static func unprocessed(_ item: ImageProcessItem, by processor: any ImageProcessor)
        -> KingfisherError
    {
        .processorError(reason: .processingFailed(processor: processor, item: item))
    }
}
