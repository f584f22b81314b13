package import Foundation
import Vips

/// The image over a plain colour.
struct BlendOperation: ImageOperation {
    let mode: BlendMode
    let alpha: Double
    let background: Color

    func outputHasAlpha(for input: Bool) -> Bool {
        switch mode.blending {
        case .normal, .separable: background.alpha < 1 && (input || alpha < 1)
        default: true
        }
    }

    func heldPixels(of input: PixelSize) -> Int {
        switch mode.blending {
        case .normal, .separable: 0
        default: input.pixelCount
        }
    }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        switch mode.blending {
        case .normal:
            return try overBackground(image)
        case .separable(let function):
            // With a plain backdrop the mixed colour is a function of the image's sample alone.
            if background.alpha == 0 { return try overBackground(image) }
            let table = table(function, format: image.format)
            return try overBackground(
                image.mappingColor { try $0.apply("maplut", ["lut": .image(table.vipsImage())]) })
        case let blending:
            let backdrop = background.pixel
            let opacity = SIMD4<Float>(1, 1, 1, Float(alpha))
            return try image.mappingPixels { blending.composite($0 * opacity, over: backdrop) }
        }
    }

    private func overBackground(_ image: VipsImage) throws -> VipsImage {
        try image.faded(to: alpha).composited(over: background)
    }

    /// `(1 − αb) Cs + αb B(Cb, Cs)` for each sample of the three colour bands.
    private func table(_ function: Blending.Channel, format: VipsBandFormat) -> LookupTable {
        let backdrop = background.pixel
        func mixed(_ sample: Float, _ band: Int) -> Float {
            let blend = function(backdrop[band], sample)
            return min(max(0, sample + backdrop.w * (blend - sample)), 1)
        }
        if format == .ushort {
            let samples = (0..<(65536 * 3)).map { index in
                UInt16((mixed(Float(index / 3) / 65535, index % 3) * 65535).rounded())
            }
            return LookupTable(samples, bands: 3, format: .ushort)
        }
        let samples = (0..<(256 * 3)).map { index in
            UInt8((mixed(Float(index / 3) / 255, index % 3) * 255).rounded())
        }
        return LookupTable(samples, bands: 3, format: .uchar)
    }
}

extension Color {
    fileprivate var pixel: SIMD4<Float> {
        SIMD4(Float(red), Float(green), Float(blue), Float(alpha))
    }
}

extension Image {
    /// The image drawn with a blend mode and an opacity of `alpha` onto a colour, mixed on sRGB values.
    package func blended(_ mode: BlendMode, alpha: CGFloat, onto background: Color) -> Image {
        applying(
            BlendOperation(mode: mode, alpha: alpha.clamped, background: background.clamped))
    }

    /// The image mixed with a colour, `fraction × image + (1 − fraction) × colour` for each colour band; its
    /// own opacity stays.
    package func mixed(with color: Color, fraction: CGFloat) -> Image {
        let paint = color.clamped
        let part = (1 - fraction.clamped) * paint.alpha
        return changing { image, _ in
            try image.mappingColor { try $0.painted(with: Color(paint, alpha: part)) }
        }
    }

    /// The image with a colour composited over it (source-over, on sRGB values).
    package func overlaid(with color: Color) -> Image {
        changing { image, _ in try image.painted(with: color) }
    }
}
