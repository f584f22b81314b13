import Dispatch
import Foundation

/// Shows a picture, or nothing, in the place of a request's image. Called on the main queue.
typealias ProgressiveConsumer = @Sendable (_ image: KFCrossPlatformImage?) -> Void

/// One request that shows a progressive JPEG while it is downloaded.
struct ProgressiveViewer: Sendable {
    let progressive: ImageProgressive
    private let options: KingfisherParsedOptionsInfo
    private let isCurrent: (@Sendable () -> Bool)?
    private let consumer: ProgressiveConsumer

    /// `nil` when the request does not want to be shown anything.
    init?(_ request: ImageRequest) {
        guard let progressive = request.options.progressiveJPEG,
            let consumer = request.progressiveConsumer
        else { return nil }
        self.progressive = progressive
        options = request.options
        isCurrent = request.isCurrent
        self.consumer = consumer
    }

    /// Whether the request still waits for its image.
    var isWaiting: Bool { isCurrent?() ?? true }

    /// Makes this request's picture of `bitmap`, which shows `scans` scans or a part of the last of
    /// them.
    ///
    /// - Returns: The rendered image; `nil` when the processor makes none.
    func image(of bitmap: Bitmap, scans: Int) async -> Image? {
        var image = Image(bitmap: bitmap)
        if let radius = progressive.blurRadius(scans: scans) {
            image = image.kf.blurred(withRadius: radius)
        }
        // A processor that fails will fail again with the complete image, and be reported then.
        return try? await ImageProcessItem.image(image).processed(options)
    }

    /// Shows `image` on the main queue, if that is still wanted there, and returns thereafter.
    func show(_ image: Image, while isWanted: @escaping @Sendable () -> Bool) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                if isWaiting, isWanted() { update(image) }
                continuation.resume()
            }
        }
    }

    private func update(_ image: Image) {
        switch progressive.onImageUpdated(image) ?? .default {
        case .default: consumer(image)
        case .keepCurrent: break
        case .replace(let other): consumer(other)
        }
    }
}
