import Dispatch
import Foundation
import Halcyon

/// The picture of an image at exactly the pixels of the place it is drawn at, sampled elsewhere than on
/// the main thread.
///
/// GTK itself samples linearly, which is neither sharp for few large pixels nor good for a large image in
/// a small place.
@MainActor final class ResampledPicture {
    /// How pixels are made of others.
    enum Method: Hashable {
        /// Each is that of the nearest one.
        case nearest
        /// Each is made of all that it covers.
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

    /// - Parameter becameReady: Called when a picture that was asked for is there.
    init(becameReady: @escaping @MainActor () -> Void) {
        self.becameReady = becameReady
    }

    /// The picture of `image` with `size` pixels; `nil` until it is there. Earlier wishes are forgotten.
    func picture(
        of image: Image, size: PixelSize, scaleFactor: CGFloat, method: Method
    ) -> Picture? {
        let wish = Wish(image: image, size: size, method: method)
        guard wish != self.wish else { return picture }
        self.wish = wish
        picture = nil
        guard image.pixelSize != size else { return nil }
        Task { [weak self] in
            // What cannot be rendered is not seen at its own size either.
            let bitmap = try? await Self.sampled(wish)
            guard let self, self.wish == wish, let bitmap else { return }
            picture = Picture(bitmap, scale: scaleFactor)
            becameReady()
        }
        return nil
    }

    /// Lets go of the image and its picture.
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
    /// These pixels, each repeated or left out, so that there are `size`.
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
