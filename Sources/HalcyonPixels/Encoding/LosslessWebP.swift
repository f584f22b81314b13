import DirectCodecs
import Foundation

/// Writes still images as lossless WebP with libwebp itself: libvips does not pass on `exact`, without
/// which the colours below wholly transparent pixels are lost.
enum LosslessWebP {
    /// - Throws: `ImageCodingError`; for a bitmap of 16 bits, which WebP cannot hold.
    static func encode(_ bitmap: Bitmap) throws -> Data {
        guard bitmap.depth == .eight else {
            throw ImageCodingError.encodingFailed(.WebP, reason: "it holds no more than 8 bits")
        }
        do {
            return try WebPWriter(.lossless).file(of: bitmap)
        } catch let refusal as WebPRefusal {
            throw ImageCodingError.encodingFailed(.WebP, reason: refusal.description)
        }
    }
}
