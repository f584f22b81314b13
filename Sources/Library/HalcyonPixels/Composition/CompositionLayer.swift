import Foundation
import Vips

/// An image with its place in a composed picture, in pixels.
struct CompositionLayer: Sendable {
    let image: Image
    let left: Int
    let top: Int
    let size: PixelSize
    let cornerRadius: Double
    let contentMode: ContentMode
}

extension CompositionLayer {
    /// The layer of `photo` in a slot; `nil` when the slot has no pixel in the picture, or a place that
    /// is no number.
    init?(_ photo: Image, in slot: PhotoLayout.Slot, scale: CGFloat, canvas: PixelSize) {
        let rect = slot.rect.standardized
        let edges = [rect.minX, rect.minY, rect.maxX, rect.maxY].map { ($0 * scale).rounded() }
        guard edges.allSatisfy({ abs($0) < 10_000_000 }) else { return nil }
        let (left, top) = (Int(edges[0]), Int(edges[1]))
        let (right, bottom) = (Int(edges[2]), Int(edges[3]))
        guard right > left, bottom > top, right > 0, bottom > 0, left < canvas.width,
            top < canvas.height
        else { return nil }
        self.init(
            image: photo, left: left, top: top,
            size: PixelSize(width: right - left, height: bottom - top),
            cornerRadius: max(0, slot.cornerRadius * scale), contentMode: slot.contentMode)
    }

    /// The picture with this layer drawn on it.
    func drawn(on picture: VipsImage) throws -> VipsImage {
        try picture.drawing(cell(like: picture), left: left, top: top)
    }

    /// The image brought to the slot's size, with the depth of `picture`: with alpha unless it covers
    /// the slot wholly.
    private func cell(like picture: VipsImage) throws -> VipsImage {
        let source = CGSize(width: image.pixelSize.width, height: image.pixelSize.height)
        let slot = CGSize(width: size.width, height: size.height)
        let target = PixelSize(points: contentMode.size(of: source, in: slot), scale: 1)
        var cell = try pixels(at: target).withDepth(of: picture)
        let left = (size.width - cell.width) / 2
        let top = (size.height - cell.height) / 2
        if cell.width > size.width || cell.height > size.height {
            cell = try cell.cropped(
                left: max(0, -left), top: max(0, -top), width: min(cell.width, size.width),
                height: min(cell.height, size.height))
        }
        if cell.width < size.width || cell.height < size.height {
            cell = try cell.addingAlpha().embedded(
                left: max(0, left), top: max(0, top), width: size.width, height: size.height)
        }
        guard cornerRadius > 0 else { return cell }
        return try cell.masked(by: .roundedMask(size, radius: cornerRadius, like: cell))
    }

    /// The image at a size: part of the picture's pipeline when its pixels are in memory, otherwise
    /// decoded at about that size before.
    private func pixels(at target: PixelSize) throws -> VipsImage {
        let resize = ResizeOperation(size: target)
        if image.isRendered || target == image.pixelSize {
            return try resize.apply(to: image.bitmap().vipsImage(), input: image.pixelSize)
        }
        let still = try image.content.currentRecipe.appending(resize).render(frame: 0)
        return try still.vipsImage()
    }
}

extension VipsImage {
    /// The coverage of a rectangle with rounded corners, in the depth of `other`.
    static func roundedMask(
        _ size: PixelSize, radius: Double, like other: VipsImage
    ) throws -> VipsImage {
        let shape = RoundedRectangle(size: size, radius: radius, corners: .all)
        return try CoverageMask(size: size, format: other.format, adding: shape).vipsImage()
    }
}
