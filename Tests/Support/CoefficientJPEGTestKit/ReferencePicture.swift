import CTestKit

/// The result of decoding a file with libjpeg.
public struct ReferencePicture {
    /// The planes; `nil` if the file was not decoded to the end.
    public let planes: Planes?
    /// Whether the file was decoded to the end without error or warning.
    public let isClean: Bool
    /// The last error or warning.
    public let message: String

    /// The limit, in blocks, for decoding a picture: about 40 megapixels of 4:2:0.
    private static let blockLimit = 4_000_000

    public init(decoding bytes: [UInt8], denominator: Int) {
        var picture = cjpegref_picture()
        cjpegref_decode(
            bytes, bytes.count, Int32(denominator), ReferencePicture.blockLimit, &picture)
        defer { cjpegref_free_picture(&picture) }
        isClean = picture.is_complete && picture.warning_count == 0
        planes = picture.is_complete ? Planes(picture) : nil
        message = withUnsafeBytes(of: picture.message) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
