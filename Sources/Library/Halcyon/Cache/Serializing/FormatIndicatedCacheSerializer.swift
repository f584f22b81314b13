public import Foundation

/// Stores every image in one format, whatever its original format.
///
/// An image that cannot be encoded in that format is stored in the format of the original bytes,
/// and if that fails as these bytes themselves, or as PNG if there are none.
public struct FormatIndicatedCacheSerializer: ImageFileSerializer, Hashable {
    /// Stores PNG.
    public static let png = FormatIndicatedCacheSerializer(imageFormat: .PNG)
    /// Stores JPEG of quality 1.
    public static let jpeg = FormatIndicatedCacheSerializer(imageFormat: .JPEG)
    /// Stores GIF; an unprocessed GIF as its original bytes.
    public static let gif = FormatIndicatedCacheSerializer(imageFormat: .GIF)
    /// Stores WebP of quality 1; an unprocessed animation as its original bytes.
    public static let webp = FormatIndicatedCacheSerializer(imageFormat: .WebP)
    /// Stores AVIF of quality 1.
    public static let avif = FormatIndicatedCacheSerializer(imageFormat: .AVIF)

    /// Stores JPEG of a quality 0…1.
    public static func jpeg(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(imageFormat: .JPEG, compressionQuality: compressionQuality)
    }

    /// Stores WebP of a quality 0…1.
    public static func webp(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(imageFormat: .WebP, compressionQuality: compressionQuality)
    }

    /// Stores AVIF of a quality 0…1.
    public static func avif(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(imageFormat: .AVIF, compressionQuality: compressionQuality)
    }

    private let imageFormat: ImageFormat
    private let compressionQuality: CGFloat

    private init(imageFormat: ImageFormat, compressionQuality: CGFloat = 1) {
        self.imageFormat = imageFormat
        self.compressionQuality = compressionQuality
    }

    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        if let data = image.kf.data(format: imageFormat, compressionQuality: compressionQuality) {
            return data
        }
        if let format = original?.kf.imageFormat, format != imageFormat,
            let data = image.kf.data(format: format, compressionQuality: compressionQuality)
        {
            return data
        }
        return original ?? image.kf.data(format: .PNG)
    }
}
