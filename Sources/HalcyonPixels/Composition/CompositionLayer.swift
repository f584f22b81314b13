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
        // What of the slot lies inside the picture.
        let (x, y) = (max(0, left), max(0, top))
        let width = min(left + size.width, picture.width) - x
        let height = min(top + size.height, picture.height) - y
        let cell = try cell(like: picture).cropped(
            left: x - left, top: y - top, width: width, height: height)
        let below = try picture.cropped(left: x, top: y, width: width, height: height)
        return try picture.apply(
            "insert", ["sub": .image(cell.composited(onto: below)), "x": .int(x), "y": .int(y)])
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

/// Putting images of 3 or 4 bands, of 8 or 16 bits and straight alpha, on top of each other.
extension VipsImage {
    /// This image over one of the same size and depth, whose bands the result has.
    ///
    /// Source-over of Porter and Duff: with this image's opacity `m` and the lower one's `a`, the result
    /// is `m + (1 − m) a` opaque, and its colour is the mean of both, weighed by `m` and `(1 − m) a`.
    func composited(onto lower: VipsImage) throws -> VipsImage {
        let (colour, mask) = try alphaSplit()
        guard let mask else { return lower.hasAlpha ? try addingAlpha() : self }
        let (below, alpha) = try lower.alphaSplit()
        let share = try mask.linear(multiply: [-1 / fullScale], add: [1])
        guard let alpha else {
            let shown = try colour.times(mask).linear(multiply: [1 / fullScale], add: [0])
            return try below.times(share).plus(shown).quantized(like: lower)
        }
        let kept = try alpha.times(share)
        let opacity = try kept.plus(mask)
        let mixed = try colour.times(mask).plus(below.times(kept)).divided(by: opacity)
        return try mixed.bandJoined(with: opacity).quantized(like: lower)
    }

    /// The same picture with 8 or 16 bits, as `other` has.
    func withDepth(of other: VipsImage) throws -> VipsImage {
        if format == other.format { return self }
        let factor = other.format == .ushort ? 257 : 1 / 257.0
        return try linear(multiply: [factor], add: [0]).quantized(like: other)
    }

    /// The coverage of a rectangle with rounded corners, in the depth of `other`.
    static func roundedMask(
        _ size: PixelSize, radius: Double, like other: VipsImage
    ) throws -> VipsImage {
        let shape = RoundedRectangle(size: size, radius: radius, corners: .all)
        return try CoverageMask(size: size, format: other.format, adding: shape).vipsImage()
    }
}
