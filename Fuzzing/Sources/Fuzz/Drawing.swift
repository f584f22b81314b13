import Foundation
import Vips

/// A small picture in many formats.
enum Drawing {
    /// Colours that run into each other, and noise, so that files have all kinds of coefficients.
    static func image(
        _ width: Int = 48, _ height: Int = 40, bands: Int = 3, deep: Bool = false
    ) throws -> VipsImage {
        var noise: UInt32 = 1
        let samples = (0..<width * height * bands).map { index -> UInt8 in
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let (x, band) = (index / bands % width, index % bands)
            let y = index / bands / width
            return UInt8(
                truncatingIfNeeded: (band == 0 ? x * 5 : band == 1 ? y * 6 : 90)
                    + Int(noise >> 27))
        }
        let owner = ByteOwner(Data(samples))
        var image = try VipsImage.memory(
            owner.pointer, count: owner.count, owner: owner, width: width, height: height,
            bands: bands, format: .uchar, interpretation: bands < 3 ? .bw : .srgb)
        if deep {
            image = try image.apply("linear", ["a": [257], "b": [0]])
                .apply("cast", ["format": "ushort"])
                .apply("copy", ["interpretation": "rgb16"])
        }
        return image
    }

    /// Files of the picture; formats and options that are missing here are left out.
    static func files(_ saver: String, _ options: [[String: VipsValue]], bands: [Int] = [3])
        -> [Data]
    {
        bands.flatMap { bands in
            options.compactMap { try? image(bands: bands).encoded(saver, $0) }
        }
    }

    /// Files of the picture with 16 bits per sample, with alpha and without.
    static func deepFiles(_ saver: String, _ options: [[String: VipsValue]]) -> [Data] {
        [3, 4].flatMap { bands in
            options.compactMap { try? image(bands: bands, deep: true).encoded(saver, $0) }
        }
    }

    /// The picture in numbers with a fraction.
    static func floats() throws -> VipsImage {
        try image().apply("colourspace", ["space": "scrgb"])
    }

    /// An animation of three frames.
    static func animation(_ saver: String, _ options: [String: VipsValue] = [:]) -> [Data] {
        let frames = try? image(40, 90, bands: 4)
            .settingMetadata([("page-height", .int(30)), ("delay", .ints([50, 60, 70]))])
        return (try? frames?.encoded(saver, options)).map { [$0] } ?? []
    }
}
