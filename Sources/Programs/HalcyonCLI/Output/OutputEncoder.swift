import Foundation
import Halcyon

/// Encodes a picture for a file of its own.
struct OutputEncoder {
    /// The quality when none is asked for: no difference to be seen, at a third of the bytes of 1.
    static let defaultQuality = 0.9

    let format: ImageFormat
    /// 0…1; `nil` when it was not asked for.
    let quality: Double?
    let keepsMetadata: Bool

    /// The bytes of `image` as a file, without metadata unless that was asked for; blocks.
    ///
    /// - Parameters:
    ///   - original: The file the image was made of.
    ///   - place: The path or URL of it, as people are told it.
    /// - Throws: `LoadFailure`.
    func encode(_ image: Image, original: Data, at place: String) throws -> Data {
        // What has metadata that cannot be read is written without it.
        let metadata = (try? ImageMetadata(reading: original)) ?? ImageMetadata()
        let options = ImageEncodingOptions(
            quality: quality ?? Self.defaultQuality, metadata: keepsMetadata ? metadata : nil)
        do {
            return try reencodable(image, metadata: metadata).kf.data(
                format: format, options: options)
        } catch {
            let message = LoadFailure(error, at: place).message
            throw LoadFailure(code: LoadFailure.encodingFailed, message: message)
        }
    }

    /// Returns the image without its original animated file, which would be written unchanged, if
    /// quality or metadata options require encoding it again.
    private func reencodable(_ image: Image, metadata: ImageMetadata) throws -> Image {
        guard let timing = image.animation else { return image }
        let hidesMetadata = !keepsMetadata && metadata != ImageMetadata()
        guard hidesMetadata || (quality != nil && format != .GIF && format != .PNG) else {
            return image
        }
        return Image(frames: try image.allBitmaps(), timing: timing, scale: image.scale) ?? image
    }
}
