package import Foundation

/// The encoders, asked in this order. A new encoder is one new file and one line here.
enum ImageEncoders {
    /// Those that write one format by its own codec; `DirectCoding` says which of them are asked.
    static let direct: [any ImageEncoder] = [
        JPEGEncoder(),
        PNGEncoder(),
        WebPEncoder(),
    ]

    /// Those that write whatever a format can hold.
    static let general: [any ImageEncoder] = [VipsEncoder()]

    /// Writes one frame, or with `timing` an animation of all `frames` (of one size), with the first encoder
    /// that takes them.
    static func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data {
        var options = options
        options.storesGrey =
            options.storesGrey && VipsSaver.greyFormats.contains(format) && options.profile == nil
            && frames.count == 1 && frames[0].isGrey
        let isDirect = options.coding.contains(format) && !options.storesGrey
        let encoders = isDirect ? direct + general : general
        for encoder in encoders where encoder.canEncode(format) {
            let file = try encoder.encode(frames, timing: timing, as: format, options: options)
            if let file { return file }
        }
        throw ImageCodingError.unsupported(format, reason: "no encoder for it is installed")
    }

    static func canEncode(_ format: ImageFormat) -> Bool {
        (direct + general).contains { $0.canEncode(format) }
    }
}

/// Writes one or more formats. Calls block and belong on the decoding pool.
protocol ImageEncoder: Sendable {
    /// Whether this encoder writes `format` on this machine.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Writes one frame, or with `timing` an animation of all `frames` (of one size); `nil` for what is left
    /// to the encoders behind this one.
    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data?
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
