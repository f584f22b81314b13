package import Foundation
import Synchronization
import Vips

package enum WatermarkPlace: Sendable, Hashable {
    /// Once: at fractions of the room that is left of each side, moved by an offset to the right and down.
    case once(anchor: CGPoint, x: Int, y: Int)
    /// Over and over, one of them in the middle, with gaps in between.
    case tiled(horizontalGap: Int, verticalGap: Int)
}

extension WatermarkPlace {
    fileprivate func lay(
        _ layer: VipsImage, over image: VipsImage, _ size: PixelSize
    ) throws -> VipsImage {
        switch self {
        case .once(let anchor, let x, let y):
            let left = Self.start(of: layer.width, in: size.width, anchor.x)
            let top = Self.start(of: layer.height, in: size.height, anchor.y)
            return try image.drawing(layer, left: left + x, top: top + y)
        case .tiled(let horizontalGap, let verticalGap):
            return try image.drawing(
                Self.tiles(of: layer, gap: (horizontalGap, verticalGap), covering: size),
                left: 0, top: 0)
        }
    }

    private static func start(of length: Int, in side: Int, _ fraction: CGFloat) -> Int {
        Int((Double(side - length) * fraction.clamped).rounded())
    }

    /// A picture of `size` made of the layer and its gaps, half a gap on each side.
    private static func tiles(
        of layer: VipsImage, gap: (horizontal: Int, vertical: Int), covering size: PixelSize
    ) throws -> VipsImage {
        let tile = try layer.embedded(
            left: gap.horizontal / 2, top: gap.vertical / 2, width: layer.width + gap.horizontal,
            height: layer.height + gap.vertical)
        // How much of the first tile is beyond the edge, so that one is in the middle.
        func cutOff(_ length: Int, _ side: Int) -> Int {
            let start = start(of: length, in: side, 0.5) % length
            return start > 0 ? length - start : -start
        }
        func count(_ length: Int, _ side: Int, _ cut: Int) -> Int {
            (side + cut + length - 1) / length
        }
        let (left, top) = (cutOff(tile.width, size.width), cutOff(tile.height, size.height))
        return try tile.apply(
            "replicate",
            [
                "across": .int(count(tile.width, size.width, left)),
                "down": .int(count(tile.height, size.height, top)),
            ]
        ).cropped(left: left, top: top, width: size.width, height: size.height)
    }
}

/// A watermark in the size and depth of the image it is laid over, made once for all frames of an
/// animation.
package final class PreparedWatermark: Sendable {
    private struct Layer {
        let size: PixelSize
        let format: VipsBandFormat
        let pixels: VipsImage
    }

    private let image: Image
    fileprivate let opacity: Double
    /// The size as a fraction of the image's; 0 for that of the watermark itself.
    private let scale: Double
    private let last = Mutex<Layer?>(nil)

    /// - Parameters:
    ///   - opacity: What the watermark's own is multiplied with, 0…1.
    ///   - scale: Into which part of the image's sides the watermark is fitted; 0 for its own size in
    ///     pixels. Of an animated watermark the first frame is used.
    package init(_ image: Image, opacity: CGFloat, scale: CGFloat) {
        self.image = image
        self.opacity = opacity.clamped
        self.scale = scale.isFinite ? max(0, scale) : 0
    }

    func layer(for size: PixelSize, like other: VipsImage) throws -> VipsImage {
        let ready = last.withLock { $0 }
        if let ready, ready.size == size, ready.format == other.format { return ready.pixels }
        let target = target(in: size)
        try target.checkCanBeDrawn()
        let pixels = try image.resized(to: target).bitmap().vipsImage().withDepth(of: other)
            .addingAlpha().faded(to: opacity).copiedToMemory()
        last.withLock { $0 = Layer(size: size, format: other.format, pixels: pixels) }
        return pixels
    }

    /// The largest size in the watermark's proportions that fits into that part of `size`.
    private func target(in size: PixelSize) -> PixelSize {
        guard scale > 0 else { return image.pixelSize }
        func part(_ side: Int) -> CGFloat {
            max(1, (CGFloat(side) * scale).rounded(.toNearestOrEven))
        }
        let source = CGSize(width: image.pixelSize.width, height: image.pixelSize.height)
        let room = CGSize(width: part(size.width), height: part(size.height))
        return PixelSize(points: ContentMode.aspectFit.size(of: source, in: room), scale: 1)
    }
}

extension Image {
    /// The image with a watermark laid over it; what of that is beyond the edges is cut off.
    package func watermarked(with mark: PreparedWatermark, place: WatermarkPlace) -> Image {
        guard mark.opacity > 0 else { return self }
        return changing { image, size in
            try place.lay(mark.layer(for: size, like: image), over: image, size)
        }
    }
}
