import CCodecs

/// Writes still WebP files with libwebp, straight from the pixels.
package struct WebPWriter {
    package enum Compression: Equatable, Sendable {
        /// 1 (small) … 100 (good). Opacity is kept exactly.
        case lossy(level: Int)
        case lossless
    }

    package var compression: Compression
    /// The effort for lossy files: 0 (fast) … 6 (small).
    package var effort: Int

    package init(_ compression: Compression, effort: Int = 4) {
        self.compression = compression
        self.effort = effort
    }

    /// The most pixels that a side can have.
    private static let longestSide = Int(WEBP_MAX_DIMENSION)

    /// Writes pixels of 8 bits: rows from the top without padding, 3 channels (RGB) or 4 (RGBA, straight).
    ///
    /// - Parameter pixels: `width × height × channels` bytes.
    /// - Returns: The file.
    package func file(
        of pixels: UnsafePointer<UInt8>, width: Int, height: Int, channels: Int
    ) throws(CodecRefusal) -> [UInt8] {
        guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height)
        else { throw .unusual("its size") }
        var config = WebPConfig()
        var picture = WebPPicture()
        guard WebPConfigInit(&config) != 0, WebPPictureInit(&picture) != 0 else {
            throw .unusual("another libwebp")
        }
        switch compression {
        case .lossy(let level):
            config.quality = Float(level)
            config.method = Int32(effort)
        case .lossless:
            // As far as libwebp's own program goes by itself.
            guard WebPConfigLosslessPreset(&config, 6) != 0 else { throw .unusual("its settings") }
            // Colours of transparent pixels stay, too.
            config.exact = 1
            picture.use_argb = 1
        }
        config.alpha_quality = 100
        guard WebPValidateConfig(&config) != 0 else { throw .unusual("its settings") }

        picture.width = Int32(width)
        picture.height = Int32(height)
        defer { WebPPictureFree(&picture) }
        let stride = Int32(width * channels)
        let isImported =
            channels == 4
            ? WebPPictureImportRGBA(&picture, pixels, stride)
            : WebPPictureImportRGB(&picture, pixels, stride)
        guard isImported != 0 else { throw .damaged(Self.failure(picture)) }
        return try Self.encode(&config, &picture)
    }

    private static func encode(
        _ config: inout WebPConfig, _ picture: inout WebPPicture
    ) throws(CodecRefusal) -> [UInt8] {
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        let isEncoded = withUnsafeMutablePointer(to: &writer) { writer in
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            picture.writer = WebPMemoryWrite
            return WebPEncode(&config, &picture)
        }
        guard isEncoded != 0 else { throw .damaged(failure(picture)) }
        return Array(UnsafeBufferPointer(start: writer.mem, count: writer.size))
    }

    private static func failure(_ picture: WebPPicture) -> String {
        "libwebp reports error \(picture.error_code.rawValue)"
    }
}
