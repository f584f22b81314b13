import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

extension Bitmap {
    /// A bitmap of the colours that `colour` gives for each column and row.
    static func drawn(
        _ width: Int, _ height: Int, channels: Int = 3, _ colour: (_ x: Int, _ y: Int) -> [UInt8]
    ) throws -> Bitmap {
        var bytes = Data(capacity: width * height * channels)
        for y in 0..<height {
            for x in 0..<width { bytes.append(contentsOf: colour(x, y).prefix(channels)) }
        }
        return try #require(
            Bitmap(pixels: bytes, size: PixelSize(width, height), channels: channels))
    }

    /// A bitmap of 16 bits for each of three samples.
    static func deep(_ width: Int, _ height: Int, _ pixels: Data) throws -> Bitmap {
        try #require(
            Bitmap(pixels: pixels, size: PixelSize(width, height), channels: 3, depth: .sixteen))
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

    /// The 8-bit samples of a pixel without its opacity.
    func rgb(_ x: Int, _ y: Int) -> [UInt8] { Array(samples(x, y).prefix(3)) }

    /// The colours in the corners: top left, top right, bottom left, bottom right.
    var corners: [[UInt8]] {
        let (right, bottom) = (size.width - 2, size.height - 2)
        return [rgb(1, 1), rgb(right, 1), rgb(1, bottom), rgb(right, bottom)]
    }

    /// The greatest difference of a sample, on the scale 0…255.
    func greatestDifference(from other: Bitmap) throws -> Double {
        try differences(from: other).reduce(0.0) { max($0, $1.max(), -$1.min()) } * 255
    }

    /// The differences of red, green, blue and opacity, pixel by pixel.
    func differences(from other: Bitmap) throws -> [SIMD4<Double>] {
        try #require(size == other.size)
        return (0..<size.pixelCount).map { place in
            let (x, y) = (place % size.width, place / size.width)
            return self[x, y].vector - other[x, y].vector
        }
    }

    /// The greatest difference of a sample, on the scale 0…255; what is transparent in both has no colour.
    func visibleDifference(from other: Bitmap) throws -> Double {
        var greatest = 0.0
        for (place, difference) in try differences(from: other).enumerated() {
            let alpha = self[place % size.width, place / size.width].alpha
            if alpha == 0, difference.w == 0 { continue }
            greatest = max(greatest, difference.max(), -difference.min())
        }
        return greatest * 255
    }

    /// How close the colours are to those of another bitmap, in decibels.
    func peakSignalToNoise(_ other: Bitmap) throws -> Double {
        let sum = try differences(from: other).reduce(0.0) {
            $0 + $1.x * $1.x + $1.y * $1.y + $1.z * $1.z
        }
        return -10 * log10(sum / Double(size.pixelCount * 3))
    }

    /// The mean difference of a sample, on the scale 0…255.
    func meanDifference(from other: Bitmap) throws -> Double {
        let sum = try differences(from: other).reduce(0.0) {
            $0 + abs($1.x) + abs($1.y) + abs($1.z)
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

extension PixelSize {
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}

extension Pixel {
    var rgb: [UInt8] { [red, green, blue] }
}

/// A whole number in bytes, the lowest first.
func littleEndian(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// A whole number in bytes, the highest first.
func bigEndian(_ value: Int, _ length: Int) -> [UInt8] { littleEndian(value, length).reversed() }

/// sRGB (IEC 61966-2-1); light and samples are 0…1.
enum SRGB {
    static func sample(_ light: Double) -> Double {
        let light = min(max(light, 0), 1)
        return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    static func light(_ sample: Double) -> Double {
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    /// Display P3 (SMPTE EG 432-1) has the same white and the same curve, so that one matrix tells all.
    static func samples(ofDisplayP3 samples: [UInt8]) -> [Double] {
        let p3 = samples.map { light(Double($0) / 255) }
        return [
            1.224940 * p3[0] - 0.224940 * p3[1],
            -0.042057 * p3[0] + 1.042057 * p3[1],
            -0.019638 * p3[0] - 0.078636 * p3[1] + 1.098274 * p3[2],
        ].map(sample)
    }
}

/// A profile that libvips has, by its name.
func iccProfile(_ name: String) throws -> Data {
    var operation = VipsOperation("profile_load")
    operation.set("name", .string(name))
    return try operation.run().blob("profile")
}

/// `bitmap` as a file.
func encoded(
    _ bitmap: Bitmap, as format: ImageFormat, quality: CGFloat = 1, isLossless: Bool = false,
    metadata: ImageMetadata? = nil
) throws -> Data {
    try ImageEncoders.encode(
        [bitmap], timing: nil, as: format,
        options: ImageEncodingOptions(quality: quality, isLossless: isLossless, metadata: metadata))
}

/// The pixels of a file.
func decoded(_ data: Data, limits: DecodingLimits = .default) throws -> Bitmap {
    try Image.decoding(data, limits: limits).bitmap()
}

/// A file at a smaller size.
func decoded(_ data: Data, at size: PixelSize) throws -> Bitmap {
    try Image.decoding(data).kf.downsampled(toPixels: size).bitmap()
}

/// What libvips makes of a file.
func decodedByVips(_ data: Data) throws -> Bitmap {
    try Recipe(encoded: EncodedImage(data, decoder: .vips)).render(frame: 0)
}

/// Whatever happened to a file of a small picture: it is a whole picture, or an error tells what it is.
func expectWholeOrError(_ data: Data) throws {
    do {
        let image = try Image.decoding(data, limits: DecodingLimits(maximumPixelCount: 1_000_000))
        #expect(try image.allBitmaps().allSatisfy { $0.size == image.pixelSize })
    } catch is ImageCodingError {
        // As it should be.
    }
}

extension ImageCreatingOptions {
    /// Files are left to libvips.
    static var byVips: ImageCreatingOptions {
        var options = ImageCreatingOptions()
        options.coding = DirectCoding(formats: [], skipsJPEGCoefficients: false)
        return options
    }
}

extension Image {
    static func decoding(_ data: Data, limits: DecodingLimits) throws -> Image {
        try decoding(data, options: ImageCreatingOptions(limits: limits))
    }
}

extension ImageCodingError {
    /// The format of a file that is damaged.
    var damagedFormat: ImageFormat? {
        if case .corrupt(let format, _) = self { format } else { nil }
    }

    /// The format of a file that is not read.
    var unsupportedFormat: ImageFormat? {
        if case .unsupported(let format, _) = self { format } else { nil }
    }

    /// Bytes that are more than the limit.
    var neededMemory: Int? { if case .tooMuchMemory(let needed, _) = self { needed } else { nil } }
}

extension VipsImage {
    /// These pixels of 8 bits resampled by Lanczos alone and in floating point, then converted to sRGB by
    /// their profile: 16 bits, of which none is lost on the way. (As it is used otherwise, libvips reduces by
    /// whole numbers first, and rounds to 8 bits: by itself 48 to 52 dB from this.)
    func resampledFinelyToSRGB(_ width: Int, _ height: Int) throws -> Bitmap {
        let resampled = try cast(to: .float).apply("linear", ["a": [257], "b": [0]])
            .resampledByLanczos(width, height).apply("round", ["round": "rint"])
        return try Bitmap(
            rendering: resampled.cast(to: .ushort).interpreted(as: .rgb16).convertedToSRGB())
    }

    /// Resampled by Lanczos alone.
    func resampledByLanczos(_ width: Int, _ height: Int) throws -> VipsImage {
        let scale = (Double(width) / Double(self.width), Double(height) / Double(self.height))
        return try apply(
            "resize", ["scale": .double(scale.0), "vscale": .double(scale.1), "gap": .double(0)])
    }
}
