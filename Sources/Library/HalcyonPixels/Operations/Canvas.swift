package import Foundation
import Vips

extension Image {
    /// The image with room around it, in pixels; less than 0 counts as 0.
    package func padded(
        top: Int, left: Int, bottom: Int, right: Int, background: Color
    ) -> Image {
        let edges = [top, left, bottom, right].map { min(max(0, $0), 10_000_000) }
        guard edges.contains(where: { $0 > 0 }) else { return self }
        let canvas = PixelSize(
            width: pixelSize.width + edges[1] + edges[3],
            height: pixelSize.height + edges[0] + edges[2])
        return placed(on: canvas, left: edges[1], top: edges[0], background)
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
        return placed(
            on: canvas, left: place(canvas.width - pixelSize.width, anchor.x),
            top: place(canvas.height - pixelSize.height, anchor.y), background)
    }

    /// The image inside of a canvas, whose colour is around it and behind its transparent parts.
    private func placed(
        on canvas: PixelSize, left: Int, top: Int, _ background: Color
    ) -> Image {
        let background = background.clamped
        return changing(to: canvas, hasAlpha: background.alpha < 1) { image, _ in
            try canvas.checkCanBeDrawn()
            if background.alpha == 1, !image.hasAlpha {
                let color = background.components(times: image.fullScale).map { $0.rounded() }
                return try image.embedded(
                    left: left, top: top, width: canvas.width, height: canvas.height,
                    extend: .background, background: color)
            }
            return try image.addingAlpha().embedded(
                left: left, top: top, width: canvas.width, height: canvas.height
            ).composited(over: background)
        }
    }
}
