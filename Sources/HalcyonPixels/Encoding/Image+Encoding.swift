package import Foundation

extension Image {
    /// The image as a file: an animation with all frames as GIF and WebP, with its first in other formats;
    /// the bytes it was made of if they are an animated file of this format.
    ///
    /// - Parameter format: `.unknown` gives PNG.
    /// - Throws: `ImageCodingError`.
    package func encoded(as format: ImageFormat, options: ImageEncodingOptions) throws -> Data {
        if let source = animatedSource, source.format == format, let data = source.data {
            return data
        }
        let format = format == .unknown ? .PNG : format
        guard ImageEncoders.canEncode(format) else {
            throw ImageCodingError.unsupported(format, reason: "no encoder for it is installed")
        }
        guard let timing = animation, format == .GIF || format == .WebP else {
            return try ImageEncoders.encode(
                [bitmap()], timing: nil, as: format, options: options)
        }
        return try ImageEncoders.encode(
            allBitmaps(), timing: timing, as: format, options: options)
    }
}
