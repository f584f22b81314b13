import Foundation
import Vips

/// How a border of one colour is told from the picture inside it.
package struct TrimRule: Sendable {
    /// How far a pixel of the border may be from its colour, in each component, 0…255.
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
    /// What lies inside the border; `nil` when there is nothing but border.
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
