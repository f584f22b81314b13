import Foundation
import HalcyonWork

extension ImageProcessItem {
    /// The rendered image that the processor of `options` makes of this item, or `nil`; made on
    /// `options.processingQueue`, by default on the decoding pool. Without `rendering` it may be
    /// one whose pixels are not in memory. Ends early with `nil` when it is no longer wanted.
    func process(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        while isWanted: @escaping @Sendable () -> Bool = { true },
        completion: @escaping @Sendable (KFCrossPlatformImage?) -> Void
    ) {
        let work: @Sendable () -> Void = {
            completion(
                isWanted() ? processed(options, rendering: rendering, while: isWanted) : nil)
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

    private func processed(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool, while isWanted: () -> Bool
    ) -> KFCrossPlatformImage? {
        guard let image = options.processor.process(item: self, options: options) else {
            ProcessingFailures.shared.note(fault(options), of: self, by: options.processor)
            return nil
        }
        guard isWanted() else { return nil }
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
