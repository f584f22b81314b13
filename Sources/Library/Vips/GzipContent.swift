import CVips
public import Foundation

/// The contents of a gzip file (RFC 1952), inflated with the library that libvips brings.
public struct GzipContent {
    public private(set) var bytes = Data()
    /// Whether nothing is missing at its end.
    public private(set) var isWhole = false

    /// Bytes that are inflated at a time.
    private static let step = 64 << 10

    /// Whether bytes begin as gzip files do.
    public static func isGzip(_ file: UnsafeRawBufferPointer) -> Bool {
        file.starts(with: [0x1F, 0x8B, 8])
    }

    /// - Parameters:
    ///   - file: The compressed bytes.
    ///   - limit: The most bytes that are inflated; about as much memory is taken.
    /// - Returns: `nil` for a file of another kind, and for one that is damaged before `limit` is reached.
    public init?(_ file: UnsafeRawBufferPointer, upTo limit: Int) {
        guard Self.isGzip(file), let base = file.baseAddress,
            let inflater = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP)
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(inflater)) }
        let output = UnsafeMutableRawPointer.allocate(byteCount: Self.step, alignment: 16)
        defer { output.deallocate() }
        var place = 0
        while bytes.count < limit, place < file.count {
            var (read, written): (gsize, gsize) = (0, 0)
            var error: UnsafeMutablePointer<GError>?
            let result = g_converter_convert(
                inflater, base + place, gsize(file.count - place), output,
                gsize(min(Self.step, limit - bytes.count)), G_CONVERTER_NO_FLAGS, &read, &written,
                &error)
            if let error {
                let isCut = error.pointee.code == Int32(G_IO_ERROR_PARTIAL_INPUT.rawValue)
                g_error_free(error)
                if isCut { return }
                return nil
            }
            place += Int(read)
            bytes.append(
                output.assumingMemoryBound(to: UInt8.self), count: Int(written))
            if result == G_CONVERTER_FINISHED {
                // Members follow each other; other bytes behind them say nothing.
                isWhole = !Self.isGzip(UnsafeRawBufferPointer(rebasing: file[place...]))
                if isWhole { return }
                g_converter_reset(inflater)
            }
            if read == 0, written == 0 { return }
        }
    }
}
