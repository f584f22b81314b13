import Foundation

/// The pixels of a small picture, row by row from the top: straight RGBA of sRGB values, each 0…1.
///
/// The input of hashes and palettes, at most a few thousand pixels, so that plain loops in double
/// precision are fast enough.
struct SmallPicture {
    let size: PixelSize
    let pixels: [SIMD4<Double>]

    /// 16-bit samples count by their upper eight bits: every hash is one of 8-bit pictures.
    init(_ bitmap: Bitmap) {
        size = bitmap.size
        let channels = bitmap.channels
        pixels = bitmap.withEightBits { bytes in
            (0..<bitmap.size.pixelCount).map { index in
                let pixel = bytes + index * channels
                let alpha = channels == 4 ? pixel[3] : 255
                return SIMD4(Double(pixel[0]), Double(pixel[1]), Double(pixel[2]), Double(alpha))
                    / 255
            }
        }
    }

    /// The colours as they look on white.
    var colorsOnWhite: [SIMD3<Double>] {
        pixels.map { $0.xyz * $0.w + SIMD3(repeating: 1 - $0.w) }
    }

    /// Luminance of the sRGB values as they are, by the weights of Rec. 709, on white; 0…1.
    var greys: [Double] {
        colorsOnWhite.map { ($0 * SIMD3(0.2126, 0.7152, 0.0722)).sum() }
    }
}

extension Bitmap {
    /// A bitmap of 8 bits; components beyond 0…1 are cut off.
    init(size: PixelSize, hasAlpha: Bool, pixels: [SIMD4<Double>]) {
        let channels = hasAlpha ? 4 : 3
        self.init(size: size, channels: channels) { _, bytes in
            for (index, pixel) in pixels.enumerated() {
                let values = (pixel.clamped(lowerBound: .zero, upperBound: .one) * 255)
                    .rounded(.toNearestOrAwayFromZero)
                for channel in 0..<channels {
                    bytes[index * channels + channel] = UInt8(values[channel])
                }
            }
        }
    }
}

extension PixelSize {
    /// The size with these proportions whose longer side is `side`, at least 1×1.
    func scaled(toLongestSide side: Int) -> PixelSize {
        let factor = CGFloat(side) / CGFloat(longestSide)
        return PixelSize(
            width: PixelSize.length(CGFloat(width) * factor),
            height: PixelSize.length(CGFloat(height) * factor))
    }
}

/// An error that occurs when text or bytes are not a valid hash.
public struct MalformedHash: Error, Hashable, Sendable, CustomStringConvertible {
    /// The defect, in a sentence that names the hash.
    public let description: String
}
