package import Foundation
import Vips

extension Image {
    /// The part of the image in a rectangle, in points, rounded to whole pixels. Rendering fails
    /// when they do not overlap.
    package func region(_ rect: CGRect) -> Image {
        // Foundation's intersection stops the program at a number that is none.
        let (left, right) = (max(0, rect.minX), min(rect.maxX, size.width))
        let (top, bottom) = (max(0, rect.minY), min(rect.maxY, size.height))
        guard right > left, bottom > top, !rect.minX.isNaN, !rect.minY.isNaN else {
            return changing(to: PixelSize(width: 1, height: 1)) { _, input in
                throw ImageCodingError.processing(
                    reason: "the rectangle to be cut out lies outside of the image, which has "
                        + "\(input.width)×\(input.height) pixels")
            }
        }
        return cropped(to: CGRect(x: left, y: top, width: right - left, height: bottom - top))
    }

    /// A rectangle of at most `size` with a point as near to its middle as the edges allow.
    ///
    /// - Parameter focus: As fractions of the sides from the top left, 0…1. Half pixels are rounded to even
    ///   numbers.
    package func cropped(to size: PixelSize, around focus: CGPoint) -> Image {
        let size = pixelSize.clipping(size)
        func place(_ side: Int, _ length: Int, _ fraction: CGFloat) -> Int {
            let middle = Int((CGFloat(side) * fraction.clamped).rounded(.toNearestOrEven))
            return min(max(0, middle - length / 2), side - length)
        }
        return cropped(
            left: place(pixelSize.width, size.width, focus.x),
            top: place(pixelSize.height, size.height, focus.y), size: size)
    }

    /// A rectangle of pixels, which lies inside.
    func cropped(left: Int, top: Int, size: PixelSize) -> Image {
        guard size != pixelSize else { return self }
        return changing(to: size) { image, _ in
            try image.cropped(left: left, top: top, width: size.width, height: size.height)
        }
    }
}

extension PixelSize {
    /// `size`, no larger than this one.
    func clipping(_ size: PixelSize) -> PixelSize {
        PixelSize(width: min(width, size.width), height: min(height, size.height))
    }
}

/// The criterion for cropping a picture without a given position.
public enum CroppingInterest: String, CaseIterable, Sendable {
    /// Features that catch the eye: edges, skin and strong colours.
    case attention
    /// The part whose brightness varies most, by its entropy.
    case entropy
}

extension VipsImage {
    fileprivate func smartCropped(
        to size: PixelSize, _ interest: CroppingInterest
    ) throws(VipsError) -> VipsImage {
        try apply(
            "smartcrop",
            [
                "width": .int(size.width), "height": .int(size.height),
                "interesting": .string(interest.rawValue),
            ])
    }
}

extension Image {
    /// The most interesting rectangle of at most `size`. Of an animation it is that of the first frame,
    /// which is rendered for it now, on the calling thread.
    package func smartCropped(
        to size: PixelSize, interest: CroppingInterest = .attention
    ) -> Image {
        let size = pixelSize.clipping(size)
        guard size != pixelSize else { return self }
        let described = changing(to: size, holdsPixels: true) { image, _ in
            // Looks at all pixels before it cuts them out.
            try image.copiedToMemory().smartCropped(to: size, interest)
        }
        guard animation != nil else { return described }
        do {
            let cut = try bitmap().vipsImage().smartCropped(to: size, interest)
            // The picture cut out remembers where it comes from.
            let (left, top) = (-(cut.int("xoffset") ?? 0), -(cut.int("yoffset") ?? 0))
            let room = PixelSize(
                width: pixelSize.width - size.width, height: pixelSize.height - size.height)
            return cropped(
                left: min(max(0, left), room.width), top: min(max(0, top), room.height),
                size: size)
        } catch {
            // What cannot be rendered says why when it is asked for.
            return described
        }
    }
}

/// The rule for telling a border of one colour from the picture inside it.
package struct TrimRule: Sendable {
    /// The largest difference of a border pixel from the border colour, per component, 0…255.
    package var threshold: Double
    /// The colour of the border; `nil` for that of the top left pixel. Transparent pixels count as
    /// magenta.
    package var color: Color?
    /// Whether the same is cut off at left and right: the smaller of both.
    package var isEvenHorizontally: Bool
    /// Whether the same is cut off at top and bottom.
    package var isEvenVertically: Bool

    package init(
        threshold: Double, color: Color?, isEvenHorizontally: Bool, isEvenVertically: Bool
    ) {
        self.threshold = threshold
        self.color = color
        self.isEvenHorizontally = isEvenHorizontally
        self.isEvenVertically = isEvenVertically
    }
}

extension TrimRule {
    /// The rectangle inside the border; `nil` when everything is border.
    fileprivate func content(of bitmap: Bitmap) throws -> (left: Int, top: Int, size: PixelSize)? {
        let picture = try bitmap.vipsImage().withEightBits()
            .flattened(background: [255, 0, 255])
        let border =
            try color.map { $0.clamped.components(times: 255) }
            ?? picture.run("getpoint", ["x": 0, "y": 0]).doubles("out-array")
        let found = try picture.run(
            "find_trim",
            [
                "threshold": .double(min(max(0, threshold), 255)),
                "background": .doubles(border),
            ])
        var (left, top) = try (found.int("left"), found.int("top"))
        var (width, height) = try (found.int("width"), found.int("height"))
        guard width > 0, height > 0 else { return nil }
        if isEvenHorizontally {
            left = min(left, bitmap.size.width - left - width)
            width = bitmap.size.width - 2 * left
        }
        if isEvenVertically {
            top = min(top, bitmap.size.height - top - height)
            height = bitmap.size.height - 2 * top
        }
        return (left, top, PixelSize(width: width, height: height))
    }
}

extension Image {
    /// The image without its border of one colour; itself when it is nothing but border, and an animation
    /// as it is.
    ///
    /// Where the border ends is in the pixels, so this renders the image, on the calling thread. One that
    /// cannot be rendered comes back as it is, and says why when it is asked for its pixels.
    package func trimmed(_ rule: TrimRule) -> Image {
        guard animation == nil else { return self }
        do {
            guard let content = try rule.content(of: bitmap()) else { return self }
            return cropped(left: content.left, top: content.top, size: content.size)
        } catch {
            return self
        }
    }
}
