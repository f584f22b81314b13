package import Foundation
import Vips

/// The image on a larger canvas.
struct CanvasOperation: ImageOperation {
    let size: PixelSize
    /// Where the image's left and top edges are on the canvas; it lies inside.
    let left: Int
    let top: Int
    /// The colour around the image, and behind its transparent parts.
    let background: Color

    func outputSize(for input: PixelSize) -> PixelSize { size }

    func outputHasAlpha(for input: Bool) -> Bool { background.alpha < 1 }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        try size.checkCanBeDrawn()
        if background.alpha == 1, !image.hasAlpha {
            let color = background.components(times: image.fullScale).map { $0.rounded() }
            return try image.embedded(
                left: left, top: top, width: size.width, height: size.height,
                extend: .background, background: color)
        }
        return try image.addingAlpha().embedded(
            left: left, top: top, width: size.width, height: size.height
        ).composited(over: background)
    }
}

extension Image {
    /// The image with room around it, in pixels; less than 0 counts as 0.
    package func padded(
        top: Int, left: Int, bottom: Int, right: Int, background: Color
    ) -> Image {
        let edges = [top, left, bottom, right].map { min(max(0, $0), 10_000_000) }
        guard edges.contains(where: { $0 > 0 }) else { return self }
        return applying(
            CanvasOperation(
                size: PixelSize(
                    width: pixelSize.width + edges[1] + edges[3],
                    height: pixelSize.height + edges[0] + edges[2]),
                left: edges[1], top: edges[0], background: background.clamped))
    }

    /// The image on a canvas of at least `size`, itself if it is that large.
    ///
    /// - Parameter anchor: Where the image lies, as fractions of the room that is left; in the middle of an
    ///   odd number of pixels, half a pixel to the right and down.
    package func extended(to size: PixelSize, anchor: CGPoint, background: Color) -> Image {
        let canvas = PixelSize(
            width: max(size.width, pixelSize.width), height: max(size.height, pixelSize.height))
        guard canvas != pixelSize else { return self }
        func place(_ room: Int, _ fraction: CGFloat) -> Int {
            Int((CGFloat(room) * fraction.clamped).rounded())
        }
        return applying(
            CanvasOperation(
                size: canvas, left: place(canvas.width - pixelSize.width, anchor.x),
                top: place(canvas.height - pixelSize.height, anchor.y),
                background: background.clamped))
    }
}
