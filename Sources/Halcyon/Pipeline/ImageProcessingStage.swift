import Foundation
import Synchronization

/// Makes images of one download's (or one provider's) bytes, each kind once, however many ask.
///
/// Two requests want the same kind when processor identifier and creating options are equal. Results
/// are kept as long as the stage.
final class ImageProcessingStage: Sendable {
    private struct Kind: Hashable {
        let processor: String
        let scale: CGFloat
        let preloadsAll: Bool
        let onlyFirstFrame: Bool
        let limits: DecodingLimits?
        let isRendered: Bool

        init(_ options: KingfisherParsedOptionsInfo, rendering: Bool) {
            isRendered = rendering
            processor = options.processor.identifier
            scale = options.scaleFactor
            preloadsAll = options.preloadAllAnimationData
            onlyFirstFrame = options.onlyLoadFirstFrame
            limits = options.decodingLimits
        }
    }

    private typealias Completion = @Sendable (Image?) -> Void

    private struct Work {
        /// Those who wait; `nil` when it is done.
        var waiters: [Completion]? = []
        /// `nil` when it has failed.
        var image: Image?
    }

    private enum Next {
        case work
        case wait
        case deliver(Image?)
    }

    let data: Data
    /// The writes to disk of what was made here.
    let stores = SharedStores()
    private let works = Mutex<[Kind: Work]>([:])

    init(data: Data) {
        self.data = data
    }

    /// Makes the image `options` ask for, on `options.processingQueue`, by default on the decoding pool.
    /// Without `rendering` its pixels need not be in memory. A caller `isOnDecodingThread` may find it
    /// made there when this returns.
    /// - Parameter completion: Called on the thread that made it, or at once when it is made already;
    ///   fails with `processingFailed`.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        isOnDecodingThread: Bool = false,
        completion: @escaping @Sendable (Result<Image, KingfisherError>) -> Void
    ) {
        let kind = Kind(options, rendering: rendering)
        let deliver: Completion = { [data] image in
            let failure = { [processor = options.processor] in
                KingfisherError.processorError(
                    reason: .processingFailed(processor: processor, item: .data(data)))
            }
            completion(image.map(Result.success) ?? .failure(failure()))
        }
        switch works.withLock({ Self.ask(for: kind, waiter: deliver, in: &$0) }) {
        case .work: process(options, kind: kind, isOnDecodingThread)
        case .wait: break
        case .deliver(let image): deliver(image)
        }
    }

    private static func ask(
        for kind: Kind, waiter: @escaping Completion, in works: inout [Kind: Work]
    ) -> Next {
        guard let index = works.index(forKey: kind) else {
            works[kind] = Work(waiters: [waiter])
            return .work
        }
        // In place: a thousand may wait.
        if works.values[index].waiters?.append(waiter) != nil { return .wait }
        return .deliver(works.values[index].image)
    }

    private func process(
        _ options: KingfisherParsedOptionsInfo, kind: Kind, _ isOnDecodingThread: Bool
    ) {
        ImageProcessItem.data(data).process(
            options, rendering: kind.isRendered, isOnDecodingThread: isOnDecodingThread
        ) { [self] in
            finish(kind, with: $0)
        }
    }

    private func finish(_ kind: Kind, with image: Image?) {
        let waiters = works.withLock { works in
            works.updateValue(Work(waiters: nil, image: image), forKey: kind)?.waiters
        }
        for waiter in waiters ?? [] { waiter(image) }
    }
}
