import Dispatch
import Foundation
import Halcyon

/// The picture of an image resampled, off the main thread, to the exact pixel size it is drawn at.
///
/// GTK itself samples linearly, which is neither sharp for magnified pixels nor good for strong
/// downscaling.
@MainActor final class ResampledPicture {
    enum Method: Hashable {
        /// Each pixel is the nearest one of the image.
        case nearest
        /// Each pixel is computed from all that it covers.
        case filtered
    }

    private struct Wish: Equatable {
        let image: Image
        let size: PixelSize
        let method: Method

        static func == (left: Wish, right: Wish) -> Bool {
            left.image === right.image && left.size == right.size && left.method == right.method
        }
    }

    private var wish: Wish?
    private var picture: Picture?
    private let becameReady: @MainActor () -> Void

    init(becameReady: @escaping @MainActor () -> Void) {
        self.becameReady = becameReady
    }

    /// The picture of `image` with `size` pixels; `nil` until it is ready. The last call counts.
    func picture(
        of image: Image, size: PixelSize, scaleFactor: CGFloat, method: Method
    ) -> Picture? {
        let wish = Wish(image: image, size: size, method: method)
        guard wish != self.wish else { return picture }
        self.wish = wish
        picture = nil
        guard image.pixelSize != size else { return nil }
        Task { [weak self] in
            // An image that cannot be rendered is not shown at its own size either.
            let bitmap = try? await Self.sampled(wish)
            guard let self, self.wish == wish, let bitmap else { return }
            picture = Picture(bitmap, scale: scaleFactor)
            becameReady()
        }
        return nil
    }

    func forget() {
        wish = nil
        picture = nil
    }

    private static func sampled(_ wish: Wish) async throws -> Bitmap? {
        let size = wish.size
        switch wish.method {
        case .filtered:
            let points = size.points(scale: wish.image.scale)
            return try await wish.image.kf.resize(to: points).rendered().bitmap()
        case .nearest:
            let bitmap = try await wish.image.rendered().bitmap()
            return await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async {
                    continuation.resume(returning: bitmap.nearest(size))
                }
            }
        }
    }
}

extension Bitmap {
    /// Resamples the bitmap to `target` by repeating and leaving out pixels.
    func nearest(_ target: PixelSize) -> Bitmap? {
        let bytesPerPixel = bytesPerPixel
        var data = Data(count: target.pixelCount * bytesPerPixel)
        // The middle of each pixel lies in the pixel it is made of.
        let columns = (0..<target.width).map {
            (2 * $0 + 1) * size.width / (2 * target.width) * bytesPerPixel
        }
        data.withUnsafeMutableBytes { (pixels: UnsafeMutableRawBufferPointer) in
            withUnsafeBytes { source in
                for row in 0..<target.height {
                    let start = (2 * row + 1) * size.height / (2 * target.height) * bytesPerRow
                    var place = row * target.width * bytesPerPixel
                    for column in columns {
                        for byte in 0..<bytesPerPixel {
                            pixels[place + byte] = source[start + column + byte]
                        }
                        place += bytesPerPixel
                    }
                }
            }
        }
        return Bitmap(pixels: data, size: target, channels: channels, depth: depth)
    }
}
