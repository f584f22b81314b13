import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

extension Bitmap {
    /// A bitmap of the colours that `colour` gives for each column and row.
    static func drawn(
        _ width: Int, _ height: Int, channels: Int = 3,
        _ colour: (_ x: Int, _ y: Int) -> [UInt8]
    ) throws -> Bitmap {
        var bytes = Data(capacity: width * height * channels)
        for y in 0..<height {
            for x in 0..<width { bytes.append(contentsOf: colour(x, y).prefix(channels)) }
        }
        return try #require(
            Bitmap(
                pixels: bytes, size: PixelSize(width: width, height: height), channels: channels))
    }

    /// Smooth colours without symmetry: red grows to the right, green downwards.
    static func gradient(_ width: Int, _ height: Int, channels: Int = 3) throws -> Bitmap {
        try drawn(width, height, channels: channels) { x, y in
            [
                UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), 90,
                UInt8(255 - x * 200 / max(1, width - 1)),
            ]
        }
    }

    /// The 8-bit samples of a pixel.
    func samples(_ x: Int, _ y: Int) -> [UInt8] {
        let colour = self[x, y]
        let all = [colour.red, colour.green, colour.blue, colour.alpha]
        return all.prefix(channels).map { UInt8(($0 * 255).rounded()) }
    }

    /// The greatest difference of a sample, on the scale 0…255.
    func greatestDifference(from other: Bitmap) throws -> Double {
        try #require(size == other.size)
        var greatest = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (a, b) = (self[x, y], other[x, y])
                for (p, q) in [
                    (a.red, b.red), (a.green, b.green), (a.blue, b.blue), (a.alpha, b.alpha),
                ] { greatest = max(greatest, abs(p - q) * 255) }
            }
        }
        return greatest
    }

    /// How close the colours are to those of another bitmap, in decibels.
    func peakSignalToNoise(_ other: Bitmap) throws -> Double {
        try #require(size == other.size)
        var sum = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (a, b) = (self[x, y], other[x, y])
                for (p, q) in [(a.red, b.red), (a.green, b.green), (a.blue, b.blue)] {
                    sum += (p - q) * (p - q)
                }
            }
        }
        return -10 * log10(sum / Double(size.pixelCount * 3))
    }

    /// The mean difference of a sample, on the scale 0…255.
    func meanDifference(from other: Bitmap) throws -> Double {
        try #require(size == other.size)
        var sum = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (a, b) = (self[x, y], other[x, y])
                sum += abs(a.red - b.red) + abs(a.green - b.green) + abs(a.blue - b.blue)
            }
        }
        return sum * 255 / Double(size.pixelCount * 3)
    }
}

extension PixelGrid {
    /// The pixels as the bitmap that a decoder should make of them.
    func bitmap(channels: Int) throws -> Bitmap {
        try Bitmap.drawn(width, height, channels: channels) { x, y in
            let pixel = self[x, y]
            return [pixel.red, pixel.green, pixel.blue, pixel.alpha]
        }
    }
}

/// `bitmap` as a file.
func encoded(
    _ bitmap: Bitmap, as format: ImageFormat, quality: CGFloat = 1, isLossless: Bool = false,
    metadata: ImageMetadata? = nil
) throws -> Data {
    try ImageEncoders.encode(
        [bitmap], timing: nil, as: format,
        options: ImageEncodingOptions(
            quality: quality, isLossless: isLossless, metadata: metadata))
}

/// The pixels of a file.
func decoded(_ data: Data, limits: DecodingLimits = .default) throws -> Bitmap {
    try Image.decoding(data, options: ImageCreatingOptions(limits: limits)).bitmap()
}

extension VipsImage {
    /// These pixels of 8 bits resampled by Lanczos alone and in floating point, then converted to sRGB by
    /// their profile: 16 bits, of which none is lost on the way. (As it is used otherwise, libvips reduces by
    /// whole numbers first, and rounds to 8 bits: by itself 48 to 52 dB from this.)
    func resampledFinelyToSRGB(_ width: Int, _ height: Int) throws -> Bitmap {
        let scale = (Double(width) / Double(self.width), Double(height) / Double(self.height))
        let resampled = try cast(to: .float).apply("linear", ["a": [257], "b": [0]])
            .apply(
                "resize",
                ["scale": .double(scale.0), "vscale": .double(scale.1), "gap": .double(0)]
            )
            .apply("round", ["round": "rint"])
        return try Bitmap(
            rendering: resampled.cast(to: .ushort).interpreted(as: .rgb16).convertedToSRGB())
    }
}
