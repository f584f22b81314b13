package import Foundation
import Vips

extension Image {
    /// The image with left and right, or top and bottom, exchanged.
    package func flipped(horizontally: Bool, vertically: Bool) -> Image {
        guard horizontally || vertically else { return self }
        return changing(holdsPixels: vertically) { image, _ in
            // Reads the rows out of order.
            let upright = vertically ? try image.copiedToMemory().flippedVertically() : image
            return horizontally ? try upright.flippedHorizontally() : upright
        }
    }

    /// The image turned clockwise around its middle; it gets as large as it must to hold all of it.
    ///
    /// - Parameters:
    ///   - degrees: Any number; multiples of 90 keep each pixel as it is.
    ///   - background: What is seen in the corners that other angles leave, and through the image.
    package func rotated(degrees: CGFloat, background: Color) -> Image {
        let rest = degrees.isFinite ? degrees.truncatingRemainder(dividingBy: 360) : 0
        // A sum with a tiny negative angle is 360.
        let angle = Double(rest < 0 ? rest + 360 : rest)
        guard angle != 0, angle != 360 else { return self }
        guard angle.truncatingRemainder(dividingBy: 90) == 0 else {
            return turned(by: angle * .pi / 180, background.clamped)
        }
        let quarterTurns = Int(angle / 90)
        let size = quarterTurns % 2 == 0 ? pixelSize : pixelSize.transposed
        return changing(to: size, holdsPixels: true) { image, _ in
            try image.copiedToMemory().rotated(quarterTurns: quarterTurns)
        }
    }

    private func turned(by radians: Double, _ background: Color) -> Image {
        let (width, height) = (Double(pixelSize.width), Double(pixelSize.height))
        let (cosine, sine) = (cos(radians), sin(radians))
        // A side that is a whole number but for the error of the sine does not grow by a pixel.
        func side(_ length: Double) -> Int { PixelSize.length((length - 1e-6).rounded(.up)) }
        let size = PixelSize(
            width: side(width * abs(cosine) + height * abs(sine)),
            height: side(width * abs(sine) + height * abs(cosine)))
        return changing(to: size, hasAlpha: background.alpha < 1, holdsPixels: true) { image, _ in
            // Middles are half a pixel from the edge: the middle of the image becomes that of the result.
            let turned = try image.copiedToMemory().addingAlpha().premultiplied().apply(
                "affine",
                [
                    "matrix": .doubles([cosine, -sine, sine, cosine]),
                    "oarea": .ints([0, 0, size.width, size.height]),
                    "idx": .double(0.5 - width / 2), "idy": .double(0.5 - height / 2),
                    "odx": .double(Double(size.width) / 2 - 0.5),
                    "ody": .double(Double(size.height) / 2 - 0.5),
                    "interpolate": "bicubic", "premultiplied": true, "extend": "background",
                ])
            return try turned.unpremultiplied().quantized(like: image).composited(over: background)
        }
    }
}
