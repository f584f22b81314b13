import Foundation

extension ImageProcessItem {
    /// The rendered image that the processor of `options` makes of this item, or `nil`; made on
    /// `options.processingQueue`, by default on the decoding pool. Without `rendering` it may be one
    /// whose pixels are not in memory. With `isOnDecodingThread` the calling thread is one of the
    /// decoding pool.
    func process(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        isOnDecodingThread: Bool = false,
        completion: @escaping @Sendable (KFCrossPlatformImage?) -> Void
    ) {
        let work: @Sendable () -> Void = { completion(processed(options, rendering: rendering)) }
        if let queue = options.processingQueue {
            queue.execute(work)
        } else if isOnDecodingThread {
            work()
        } else {
            DecodingPool.shared.submit(work)
        }
    }

    /// The rendered image that the processor of `options` makes of this item.
    /// - Throws: `processingFailed`.
    func processed(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        let image = await handedOver { hand in
            process(options, rendering: rendering, completion: hand)
        }
        guard let image else {
            throw .processorError(
                reason: .processingFailed(processor: options.processor, item: self))
        }
        return image
    }

    private func processed(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool
    ) -> KFCrossPlatformImage? {
        guard let image = options.processor.process(item: self, options: options) else {
            ProcessingFailures.shared.note(fault(options), of: self, by: options.processor)
            return nil
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
