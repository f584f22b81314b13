package import Foundation
import Vips

extension Image {
    /// The image blurred by a Gaussian with a standard deviation of `sigma` pixels, at most 1000; what is
    /// below 0.2 changes nothing. Beyond the edges the nearest pixel counts.
    ///
    /// The sums are carried out as they are defined; of a wide curve they are those of a picture made smaller
    /// before, and larger again after that, which does not show in 8 bits.
    package func gaussianBlurred(sigma: CGFloat) -> Image {
        guard sigma >= 0.2 else { return self }
        let sigma = Double(min(sigma, 1000))
        return changing(holdsPixels: true) { image, size in
            let pixels = try image.copiedToMemory()
            // What is left has a deviation of 8 to 16 pixels.
            let factor = Int(sigma / 8)
            let blurred =
                factor > 1
                ? try pixels.blurred(size: size, sigma: sigma, reducedBy: factor)
                : try pixels.premultiplied().blurred(sigma: sigma)
            return try blurred.unpremultiplied().quantized(like: image)
        }
    }

    /// The image with sharper edges, by an unsharp mask on lightness: flat areas and colours stay.
    ///
    /// - Parameter sigma: The standard deviation of the mask in pixels, at most 10; 0 changes nothing.
    package func sharpened(sigma: CGFloat) -> Image {
        guard sigma > 0 else { return self }
        let sigma = Double(min(max(sigma, 0.01), 10))
        return changing(holdsPixels: true) { image, _ in
            try image.copiedToMemory().mappingColor { colour in
                try colour.apply("sharpen", ["sigma": .double(sigma)])
            }
        }
    }

    /// The image in squares of one colour, each the mean of what was in it, from the top left.
    ///
    /// - Parameter side: In pixels; 0 and 1 change nothing.
    package func pixelated(side: Int) -> Image {
        // A larger square looks the same.
        let side = min(side, pixelSize.longestSide)
        guard side > 1 else { return self }
        // Squares that reach beyond the edge are filled up with the mirror image.
        @Sendable func filled(_ length: Int) -> Int { (length + side - 1) / side * side }
        return changing(holdsPixels: true) { image, size in
            let means = try image.copiedToMemory().cast(to: .float).embedded(
                left: 0, top: 0, width: filled(size.width), height: filled(size.height),
                extend: .mirror
            ).premultiplied().apply("shrink", ["hshrink": .int(side), "vshrink": .int(side)])
                .unpremultiplied().quantized(like: image)
            return try means.apply("zoom", ["xfac": .int(side), "yfac": .int(side)])
                .cropped(left: 0, top: 0, width: size.width, height: size.height)
        }
    }
}

extension VipsImage {
    /// The curve ends at a part of its height beyond which nothing shows in 8 bits; libvips takes no less.
    fileprivate func blurred(sigma: Double) throws -> VipsImage {
        try apply(
            "gaussblur", ["sigma": .double(sigma), "min_ampl": 0.001, "precision": "float"])
    }

    /// Means of squares are blurred, and the space between them filled by cubic interpolation. Both of it
    /// happens wholly inside of a picture that is larger all around by what the curve reaches.
    fileprivate func blurred(
        size: PixelSize, sigma: Double, reducedBy factor: Int
    ) throws -> VipsImage {
        func squares(_ length: Double) -> Int { Int((length / Double(factor)).rounded(.up)) }
        let margin = squares(4 * sigma) * factor
        let means = try embedded(
            left: margin, top: margin, width: squares(Double(size.width)) * factor + 2 * margin,
            height: squares(Double(size.height)) * factor + 2 * margin, extend: .copy
        ).premultiplied().cast(to: .float).apply(
            "shrink", ["hshrink": .int(factor), "vshrink": .int(factor)])
        // The variances of the curve and of the squares add up to what was asked for.
        let scale = Double(factor)
        let rest = (sigma * sigma - (scale * scale - 1) / 12).squareRoot() / scale
        // libvips' own enlargement is off by half a pixel of the result.
        return try means.blurred(sigma: rest).apply(
            "affine",
            [
                "matrix": .doubles([scale, 0, 0, scale]), "idx": 0.5, "idy": 0.5, "odx": -0.5,
                "ody": -0.5, "oarea": .ints([margin, margin, size.width, size.height]),
                "interpolate": "bicubic", "extend": "copy", "premultiplied": true,
            ])
    }
}
