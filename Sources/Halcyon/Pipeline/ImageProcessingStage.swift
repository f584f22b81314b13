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

    private enum Work {
        case running([CheckedContinuation<Image?, Never>])
        case done(Image?)
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

    /// The image `options` ask for, made on `options.processingQueue`, by default on the decoding pool.
    /// Without `rendering` its pixels need not be in memory.
    /// - Throws: `processingFailed`.
    func image(_ options: KingfisherParsedOptionsInfo, rendering: Bool = true)
        async throws(KingfisherError) -> Image
    {
        let kind = Kind(options, rendering: rendering)
        let image = await withCheckedContinuation { continuation in
            switch works.withLock({ Self.ask(for: kind, waiter: continuation, in: &$0) }) {
            case .work: process(options, kind: kind)
            case .wait: break
            case .deliver(let image): continuation.resume(returning: image)
            }
        }
        guard let image else {
            throw .processorError(
                reason: .processingFailed(processor: options.processor, item: .data(data)))
        }
        return image
    }

    private static func ask(
        for kind: Kind, waiter: CheckedContinuation<Image?, Never>, in works: inout [Kind: Work]
    ) -> Next {
        switch works[kind] {
        case nil:
            works[kind] = .running([waiter])
            return .work
        case .running(let waiters):
            works[kind] = .running(waiters + [waiter])
            return .wait
        case .done(let image):
            return .deliver(image)
        }
    }

    private func process(_ options: KingfisherParsedOptionsInfo, kind: Kind) {
        ImageProcessItem.data(data).process(options, rendering: kind.isRendered) { [self] in
            finish(kind, with: $0)
        }
    }

    private func finish(_ kind: Kind, with image: Image?) {
        let waiters: [CheckedContinuation<Image?, Never>] = works.withLock { works in
            defer { works[kind] = .done(image) }
            if case .running(let waiters) = works[kind] { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume(returning: image) }
    }
}
