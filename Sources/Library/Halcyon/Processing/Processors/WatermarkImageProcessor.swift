public import Foundation

/// Draws another image over the image, once or tiled.
///
/// ```swift
/// let mark = WatermarkImageProcessor(
///     logo, name: "logo-2", opacity: 0.6, scale: 0.2,
///     placement: .once(anchor: CGPoint(x: 1, y: 1), offset: CGPoint(x: -8, y: -8)))
/// ```
///
/// It has no text form, since text cannot contain an image.
public struct WatermarkImageProcessor: ImageProcessor, StepImageProcessor {
    /// The placement of a watermark.
    public enum Placement: Hashable, Sendable {
        /// Once: `anchor` is the position as fractions of the free space, clamped to 0…1, and
        /// `offset`, in points, moves it to the right and down. Parts beyond the edges are cut off.
        case once(anchor: CGPoint, offset: CGPoint = .zero)
        /// Tiled, with one tile in the middle and gaps between the tiles, in points.
        case tiled(gap: CGSize = .zero)
    }

    /// The watermark; for an animation its first frame.
    public let watermark: KFCrossPlatformImage
    /// The name of the watermark in the identifier, and so in cache keys: another image needs
    /// another name.
    public let name: String
    /// The factor for the watermark's own opacity, 0…1. 1 by default.
    public let opacity: CGFloat
    /// The fraction of the image's sides into which the watermark is fitted, enlarged if need be;
    /// 0, the default, keeps its size in pixels.
    public let scale: CGFloat
    /// The placement; centred by default.
    public let placement: Placement

    /// The prepared watermark, shared by all frames and images of one size.
    private let prepared: PreparedWatermark

    public init(
        _ watermark: KFCrossPlatformImage, name: String, opacity: CGFloat = 1, scale: CGFloat = 0,
        placement: Placement = .once(anchor: CGPoint(x: 0.5, y: 0.5))
    ) {
        self.watermark = watermark
        self.name = name
        self.opacity = opacity
        self.scale = scale
        self.placement = placement
        prepared = PreparedWatermark(watermark, opacity: opacity, scale: scale)
    }

    public var identifier: String {
        let place =
            switch placement {
            case .once(let anchor, let offset): "\(anchor.identifier)_\(offset.identifier)"
            case .tiled(let gap): "tiled_\(gap.identifier)"
            }
        return ProcessorIdentifier.make(
            "WatermarkImageProcessor", "\(opacity)_\(scale)_\(place)", suffix: name)
    }

    func step(_ image: Image) -> Image {
        image.watermarked(with: prepared, place: placement.pixels(scale: image.scale))
    }
}

extension WatermarkImageProcessor.Placement {
    fileprivate func pixels(scale: CGFloat) -> WatermarkPlace {
        switch self {
        case .once(let anchor, let offset):
            .once(
                anchor: anchor, x: offset.x.pixels(scale: scale), y: offset.y.pixels(scale: scale))
        case .tiled(let gap):
            .tiled(
                horizontalGap: max(0, gap.width.pixels(scale: scale)),
                verticalGap: max(0, gap.height.pixels(scale: scale)))
        }
    }
}
