import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

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
