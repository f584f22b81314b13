package import Foundation
import Testing

@testable package import HalcyonPixels

extension Bitmap {
    /// A bitmap of the colours that `colour` gives for each column and row.
    package static func drawn(
        _ width: Int, _ height: Int, channels: Int = 3, _ colour: (_ x: Int, _ y: Int) -> [UInt8]
    ) throws -> Bitmap {
        // Plain loops: generic ones take ten times as long without optimization.
        var bytes = [UInt8](repeating: 0, count: width * height * channels)
        var place = 0
        for y in 0..<height {
            for x in 0..<width {
                let samples = colour(x, y)
                var channel = 0
                while channel < channels {
                    bytes[place] = samples[channel]
                    (place, channel) = (place + 1, channel + 1)
                }
            }
        }
        return try #require(
            Bitmap(pixels: Data(bytes), size: PixelSize(width, height), channels: channels))
    }

    /// A bitmap of 16 bits for each of three samples.
    package static func deep(_ width: Int, _ height: Int, _ pixels: Data) throws -> Bitmap {
        try #require(
            Bitmap(pixels: pixels, size: PixelSize(width, height), channels: 3, depth: .sixteen))
    }

    /// Smooth colours without symmetry: red grows to the right, green downwards.
    package static func gradient(_ width: Int, _ height: Int, channels: Int = 3) throws -> Bitmap {
        try drawn(width, height, channels: channels) { x, y in
            [
                UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), 90,
                UInt8(255 - x * 200 / max(1, width - 1)),
            ]
        }
    }

    /// The 8-bit samples of a pixel.
    package func samples(_ x: Int, _ y: Int) -> [UInt8] {
        let colour = self[x, y]
        let all = [colour.red, colour.green, colour.blue, colour.alpha]
        return all.prefix(channels).map { UInt8(($0 * 255).rounded()) }
    }

    /// The 8-bit samples of a pixel without its opacity.
    package func rgb(_ x: Int, _ y: Int) -> [UInt8] { Array(samples(x, y).prefix(3)) }

    /// The colours in the corners: top left, top right, bottom left, bottom right.
    package var corners: [[UInt8]] {
        let (right, bottom) = (size.width - 2, size.height - 2)
        return [rgb(1, 1), rgb(right, 1), rgb(1, bottom), rgb(right, bottom)]
    }

    /// The greatest difference of a sample, on the scale 0…255.
    package func greatestDifference(from other: Bitmap) throws -> Double {
        try differences(from: other).reduce(0.0) { max($0, $1.max(), -$1.min()) } * 255
    }

    /// The differences of red, green, blue and opacity, pixel by pixel.
    package func differences(from other: Bitmap) throws -> [SIMD4<Double>] {
        try #require(size == other.size)
        return (0..<size.pixelCount).map { place in
            let (x, y) = (place % size.width, place / size.width)
            return self[x, y].vector - other[x, y].vector
        }
    }

    /// The greatest difference of a sample, on the scale 0…255; what is transparent in both has no colour.
    package func visibleDifference(from other: Bitmap) throws -> Double {
        var greatest = 0.0
        for (place, difference) in try differences(from: other).enumerated() {
            let alpha = self[place % size.width, place / size.width].alpha
            if alpha == 0, difference.w == 0 { continue }
            greatest = max(greatest, difference.max(), -difference.min())
        }
        return greatest * 255
    }

    /// The peak signal-to-noise ratio of the colours, in decibels.
    package func peakSignalToNoise(_ other: Bitmap) throws -> Double {
        let sum = try differences(from: other).reduce(0.0) {
            $0 + $1.x * $1.x + $1.y * $1.y + $1.z * $1.z
        }
        return -10 * log10(sum / Double(size.pixelCount * 3))
    }

    /// The mean difference of a sample, on the scale 0…255.
    package func meanDifference(from other: Bitmap) throws -> Double {
        let sum = try differences(from: other).reduce(0.0) {
            $0 + abs($1.x) + abs($1.y) + abs($1.z)
        }
        return sum * 255 / Double(size.pixelCount * 3)
    }
}

extension PixelGrid {
    /// The pixels as the bitmap that a decoder should make of them.
    package func bitmap(channels: Int) throws -> Bitmap {
        try Bitmap.drawn(width, height, channels: channels) { x, y in
            let pixel = self[x, y]
            return [pixel.red, pixel.green, pixel.blue, pixel.alpha]
        }
    }
}

extension PixelSize {
    package init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}

extension Pixel {
    package var rgb: [UInt8] { [red, green, blue] }
}

/// A whole number in bytes, the lowest first.
package func littleEndian(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// A whole number in bytes, the highest first.
package func bigEndian(_ value: Int, _ length: Int) -> [UInt8] {
    littleEndian(value, length).reversed()
}

/// `bitmap` as a file.
package func encoded(
    _ bitmap: Bitmap, as format: ImageFormat, quality: CGFloat = 1, isLossless: Bool = false,
    metadata: ImageMetadata? = nil
) throws -> Data {
    try ImageEncoders.encode(
        [bitmap], timing: nil, as: format,
        options: ImageEncodingOptions(quality: quality, isLossless: isLossless, metadata: metadata))
}

/// The pixels of a file.
package func decoded(_ data: Data, limits: DecodingLimits = .default) throws -> Bitmap {
    try Image.decoding(data, limits: limits).bitmap()
}

extension Image {
    package static func decoding(_ data: Data, limits: DecodingLimits) throws -> Image {
        try decoding(data, options: ImageCreatingOptions(limits: limits))
    }
}

extension Color {
    package var vector: SIMD4<Double> { SIMD4(red, green, blue, alpha) }
}

/// An image of one color.
package func testImage(width: Int = 4, height: Int = 4, value: UInt8 = 200) -> Image {
    let size = PixelSize(width: width, height: height)
    let pixels = Data(repeating: value, count: width * height * 4)
    return Image(bitmap: Bitmap(pixels: pixels, size: size)!)
}
