package import Foundation
import Vips

extension VipsImage {
    /// The image with an opacity of `alpha` over a plain colour.
    fileprivate func blended(
        _ blending: Blending, alpha: Double, onto background: Color
    ) throws -> VipsImage {
        switch blending {
        case .normal:
            return try faded(to: alpha).composited(over: background)
        case .separable(let function):
            // With a plain backdrop the mixed colour is a function of the image's sample alone.
            guard background.alpha > 0 else { return try faded(to: alpha) }
            let table = Self.table(function, onto: background.pixel, format)
            return try mappingColor { try $0.apply("maplut", ["lut": .image(table.vipsImage())]) }
                .faded(to: alpha).composited(over: background)
        default:
            let backdrop = background.pixel
            let opacity = SIMD4<Float>(1, 1, 1, Float(alpha))
            return try mappingPixels { blending.composite($0 * opacity, over: backdrop) }
        }
    }

    /// `(1 − αb) Cs + αb B(Cb, Cs)` for each sample of the three colour bands.
    private static func table(
        _ function: Blending.Channel, onto backdrop: SIMD4<Float>, _ format: VipsBandFormat
    ) -> LookupTable {
        func samples<Sample: FixedWidthInteger>(_ type: Sample.Type) -> [Sample] {
            let most = Float(Sample.max)
            return (0..<(Int(Sample.max) + 1) * 3).map { index in
                let (sample, band) = (Float(index / 3) / most, index % 3)
                let blend = function(backdrop[band], sample)
                let mixed = min(max(0, sample + backdrop.w * (blend - sample)), 1)
                return Sample((mixed * most).rounded())
            }
        }
        return format == .ushort
            ? LookupTable(samples(UInt16.self), bands: 3, format: .ushort)
            : LookupTable(samples(UInt8.self), bands: 3, format: .uchar)
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
        let (blending, alpha, paint) = (mode.blending, alpha.clamped, background.clamped)
        let keepsBands =
            switch blending {
            case .normal, .separable: true
            default: false
            }
        return changing(
            hasAlpha: !keepsBands || paint.alpha < 1 && (hasAlpha || alpha < 1),
            holdsPixels: !keepsBands
        ) { image, _ in
            try image.blended(blending, alpha: alpha, onto: paint)
        }
    }

    /// The image mixed with a colour, `fraction × image + (1 − fraction) × colour` for each colour band; its
    /// own opacity stays.
    package func mixed(with color: Color, fraction: CGFloat) -> Image {
        let paint = color.clamped
        let part = Color(
            red: paint.red, green: paint.green, blue: paint.blue,
            alpha: (1 - fraction.clamped) * paint.alpha)
        return changing { image, _ in try image.mappingColor { try $0.painted(with: part) } }
    }

    /// The image with a colour composited over it (source-over, on sRGB values).
    package func overlaid(with color: Color) -> Image {
        changing { image, _ in try image.painted(with: color) }
    }
}
