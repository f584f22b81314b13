import Foundation
import HalcyonPixels
import HalcyonServerURLs

/// The operator's watermark, and how it is laid over pictures.
struct WatermarkLayer: Sendable {
    let image: Image
    /// 0…1, multiplied by that of the options.
    let opacity: Double

    /// - Parameter scale: What offsets in pixels are multiplied by.
    func laid(over picture: Image, _ mark: ProcessingOptions.Watermark, scale: Double) -> Image {
        let outer = Dimensions(picture.pixelSize)
        let size = Placement.size(
            ofWatermark: Dimensions(image.pixelSize), on: outer, scale: mark.scale)
        let layer = PixelSize(size) == image.pixelSize ? image : image.resized(to: PixelSize(size))
        let prepared = PreparedWatermark(layer, opacity: opacity * mark.opacity, scale: 0)
        return picture.watermarked(with: prepared, place: place(mark, size, outer, scale))
    }

    private func place(
        _ mark: ProcessingOptions.Watermark, _ size: Dimensions, _ outer: Dimensions,
        _ scale: Double
    ) -> WatermarkPlace {
        switch mark.position {
        case .anchor(let anchor):
            let position = Placement.position(
                ofWatermark: size, on: outer, anchor: anchor, x: mark.x, y: mark.y, scale: scale)
            return .once(anchor: .zero, x: position.x, y: position.y)
        case .tiled:
            func gap(_ offset: Double, _ side: Int) -> Int {
                max(0, Placement.offset(offset, of: side, scale: scale))
            }
            return .tiled(
                horizontalGap: gap(mark.x, outer.width), verticalGap: gap(mark.y, outer.height))
        }
    }
}
