import CWebP
import Foundation

/// Writes still images as lossless WebP with libwebp itself: libvips does not pass on `exact`, without
/// which the colours below wholly transparent pixels are lost.
enum LosslessWebP {
    /// 0 (fast) … 9 (small); 6 is what libwebp's own program takes.
    private static let level: Int32 = 6

    /// - Throws: `ImageCodingError`; for a bitmap of 16 bits, which WebP cannot hold.
    static func encode(_ bitmap: Bitmap) throws(ImageCodingError) -> Data {
        guard bitmap.depth == .eight else { throw failure("it holds no more than 8 bits") }
        var config = WebPConfig()
        var picture = WebPPicture()
        guard WebPConfigInit(&config) != 0, WebPConfigLosslessPreset(&config, level) != 0,
            WebPPictureInit(&picture) != 0
        else { throw failure("libwebp is of another version than its headers") }
        config.exact = 1
        defer { WebPPictureFree(&picture) }
        picture.use_argb = 1
        picture.width = Int32(clamping: bitmap.size.width)
        picture.height = Int32(clamping: bitmap.size.height)
        guard picture.imports(bitmap) else { throw failure(of: picture) }

        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        let isWritten = withUnsafeMutablePointer(to: &writer) { writer in
            picture.writer = { WebPMemoryWrite($0, $1, $2) }
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            return WebPEncode(&config, &picture) != 0
        }
        guard isWritten, let bytes = writer.mem else { throw failure(of: picture) }
        return Data(bytes: bytes, count: writer.size)
    }

    private static func failure(of picture: WebPPicture) -> ImageCodingError {
        picture.error_code == VP8_ENC_ERROR_BAD_DIMENSION
            ? failure("\(picture.width)×\(picture.height) pixels are outside of 1…16383 a side")
            : failure("libwebp's error \(picture.error_code.rawValue)")
    }

    private static func failure(_ reason: String) -> ImageCodingError {
        .encodingFailed(.WebP, reason: reason)
    }
}

extension WebPPicture {
    /// Copies the pixels of `bitmap`, which has 8 bits.
    fileprivate mutating func imports(_ bitmap: Bitmap) -> Bool {
        bitmap.withUnsafeBytes { bytes in
            guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return false }
            let stride = Int32(clamping: bitmap.bytesPerRow)
            return bitmap.hasAlpha
                ? WebPPictureImportRGBA(&self, start, stride) != 0
                : WebPPictureImportRGB(&self, start, stride) != 0
        }
    }
}
