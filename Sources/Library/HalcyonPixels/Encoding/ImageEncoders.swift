package import Foundation

/// The encoders. A new one is one new file and one line here. Calls block and belong on the decoding pool.
enum ImageEncoders {
    /// Writes one frame, or with `timing` an animation of all `frames` (of one size): by the format's own codec
    /// if `DirectCoding` says so and it takes them, else with libvips, which writes whatever a format can hold.
    static func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data {
        var options = options
        options.storesGrey =
            options.storesGrey && VipsSaver.greyFormats.contains(format) && options.profile == nil
            && frames.count == 1 && frames[0].isGrey
        let isDirect = options.coding.contains(format) && !options.storesGrey
        let file: Data? =
            switch format {
            case .JPEG where isDirect: try JPEGEncoder.encode(frames, options: options)
            case .PNG where isDirect:
                try PNGEncoder.encode(frames, timing: timing, options: options)
            case .WebP where isDirect:
                WebPEncoder.encode(frames, timing: timing, options: options)
            default: nil
            }
        return try file ?? VipsEncoder.encode(frames, timing: timing, as: format, options: options)
    }

    static func canEncode(_ format: ImageFormat) -> Bool {
        [.JPEG, .PNG, .WebP].contains(format) || VipsEncoder.canEncode(format)
    }
}

extension ImageFormat {
    /// The formats that can be read on this machine, in the order of `allCases`. PDF is among them
    /// although it is read only when `DecodingLimits.allowsPDF` is set.
    public static var readable: [ImageFormat] { allCases.filter(ImageDecoders.canDecode) }

    /// The formats whose animations are read with all frames on this machine, in the order of `allCases`.
    package static var playable: [ImageFormat] { allCases.filter(ImageDecoders.canPlay) }

    /// The formats that can be written on this machine, in the order of `allCases`.
    public static var writable: [ImageFormat] { allCases.filter(ImageEncoders.canEncode) }
}

extension Image {
    /// The image as a file: an animation with all frames as GIF, WebP and PNG, with its first in other
    /// formats; the bytes it was made of if they are an animated file of this format, of PNG only if the
    /// image is animated, too.
    ///
    /// - Parameter format: `.unknown` gives PNG.
    /// - Throws: `ImageCodingError`.
    package func encoded(as format: ImageFormat, options: ImageEncodingOptions) throws -> Data {
        let isStillOnly = format == .PNG && animation == nil
        if let source = animatedSource, source.format == format, let data = source.data,
            !isStillOnly
        {
            return data
        }
        let format = format == .unknown ? .PNG : format
        guard ImageEncoders.canEncode(format) else {
            throw ImageCodingError.unsupported(format, reason: "no encoder for it is installed")
        }
        guard let timing = animation, [.GIF, .WebP, .PNG].contains(format) else {
            return try ImageEncoders.encode(
                [bitmap()], timing: nil, as: format, options: options)
        }
        return try ImageEncoders.encode(
            allBitmaps(), timing: timing, as: format, options: options)
    }
}
