import Foundation
import Vips

/// The one libvips saver of a format, and how it is called.
struct VipsSaver {
    let format: ImageFormat
    let nickname: String

    init?(_ format: ImageFormat) {
        guard let name = format.vipsName, ![.SVG, .PDF].contains(format) else { return nil }
        self.format = format
        nickname = "\(name)save_buffer"
    }

    /// Whether an animation can be written; of other formats only the first frame is.
    var writesAnimations: Bool { format == .GIF || format == .WebP }

    /// The formats of which the savers write one channel where there is only one.
    static let greyFormats: Set<ImageFormat> = [.JPEG, .PNG, .TIFF, .JPEGXL]

    /// The sides, in pixels, that the format or its encoder can have.
    private var sides: ClosedRange<Int> {
        switch format {
        case .JPEG: 1...65500
        case .GIF: 1...65535
        case .WebP: 1...16383
        // Smaller images make the encoders of libheif fail, or write files nobody can read.
        case .AVIF, .HEIC: 16...16384
        default: 1...Int(Int32.max)
        }
    }

    func checkSize(_ size: PixelSize) throws(ImageCodingError) {
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw .encodingFailed(
                format,
                reason: "\(size.width)×\(size.height) pixels are outside of "
                    + "\(sides.lowerBound)…\(sides.upperBound) a side")
        }
    }

    /// `image` with the depth and the bands that the format can hold.
    func prepared(_ image: VipsImage) throws(VipsError) -> VipsImage {
        var image = image
        if image.format == .ushort, [.JPEG, .GIF, .WebP].contains(format) {
            image = try image.apply("cast", ["format": "uchar", "shift": true])
                .interpreted(as: image.bands < 3 ? .bw : .srgb)
        }
        // JPEG has no alpha; paper is what most pages put behind it.
        if format == .JPEG { image = try image.flattened(background: [255]) }
        return image
    }

    /// The saver's arguments, chosen for writing while somebody waits.
    func arguments(
        _ options: ImageEncodingOptions, depth: Bitmap.Depth, keepsMetadata: Bool
    ) -> [String: VipsValue] {
        var arguments: [String: VipsValue] = ["strip": .bool(!keepsMetadata)]
        let level = VipsValue.int(Self.level(options.quality))
        switch format {
        case .JPEG:
            // Optimal Huffman tables cost a second pass for 3 % of the size.
            arguments["Q"] = level
            arguments["optimize_coding"] = false
            arguments["interlace"] = .bool(options.isProgressive)
        case .PNG:
            arguments["compression"] = 6
        case .GIF:
            // 1…10; half the time of the default 7 at a few per cent more bytes.
            arguments["effort"] = .int(options.effort ?? 3)
        case .WebP:
            // In the lossless mode, Q would be the effort, and effort does what it says.
            arguments["Q"] = options.isLossless ? 70 : level
            arguments["lossless"] = .bool(options.isLossless)
            arguments["alpha_q"] = 100
            arguments["effort"] = .int(options.effort ?? 4)
        case .AVIF, .HEIC:
            arguments["Q"] = level
            arguments["compression"] = format == .AVIF ? "av1" : "hevc"
            // Above 1, time grows several times for no fewer bytes.
            arguments["effort"] = .int(options.effort ?? 1)
            // libheif 1.15 asks libaom for a profile in which 10 bits make it abort the process.
            let deep = format == .AVIF ? 12 : 10
            arguments["bitdepth"] = .int(depth == .eight ? 8 : deep)
        case .JPEGXL:
            arguments["distance"] = .double(
                Self.distance(level: Self.level(options.quality)))
            arguments["lossless"] = .bool(options.isLossless)
            arguments["effort"] = .int(options.effort ?? 3)
        case .TIFF:
            arguments["compression"] = "deflate"
            arguments["predictor"] = "horizontal"
        case .BMP, .ICO, .PDF, .SVG, .unknown:
            break
        }
        return arguments
    }

    /// 0…1 as the 1…100 of the codecs.
    static func level(_ quality: CGFloat) -> Int {
        quality.isNaN ? 100 : Int((min(max(quality, 0), 1) * 99).rounded()) + 1
    }
    /// The Butteraugli distance of JPEG XL for a level 1…100: as the `cjxl` program maps it from 30 up,
    /// below that evenly to 15, the largest that libvips lets through.
    static func distance(level: Int) -> Double {
        level >= 30
            ? 0.1 + Double(100 - level) * 0.09 : 6.4 + Double(30 - level) * (15 - 6.4) / 29
    }
}
