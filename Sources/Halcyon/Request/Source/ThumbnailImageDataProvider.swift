public import Foundation
import HalcyonWork

/// Why a thumbnail could not be made.
public enum ThumbnailImageDataProviderError: Error, Sendable {
    /// The file cannot be read or is not an image.
    case invalidImageSource
    /// The image cannot be decoded.
    case invalidThumbnail
    /// The thumbnail cannot be written in the file's format or as PNG.
    case writeDataError
    /// The written thumbnail is not complete.
    case finalizeDataError
}

extension ThumbnailImageDataProviderError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .invalidImageSource: "The file cannot be read, or it is not an image."
        case .invalidThumbnail: "The image cannot be decoded."
        case .writeDataError: "The thumbnail cannot be written."
        case .finalizeDataError: "The written thumbnail is not complete."
        }
    }
}

/// A small version of a local image file, decoded at the target size and encoded in the file's own
/// format (as PNG when that format cannot be written).
public struct ThumbnailImageDataProvider: ImageDataProvider {
    public let url: URL
    /// The longest side of the thumbnail in pixels.
    public let maxPixelSize: CGFloat
    /// Whether the thumbnail is made of the image itself even when the file has one embedded. Halcyon
    /// never uses embedded thumbnails, which may be stale; the flag is part of the key.
    public let alwaysCreateThumbnail: Bool
    public let cacheKey: String

    public init(
        url: URL, maxPixelSize: CGFloat, alwaysCreateThumbnail: Bool = true,
        cacheKey: String? = nil
    ) {
        self.url = url
        self.maxPixelSize = maxPixelSize
        self.alwaysCreateThumbnail = alwaysCreateThumbnail
        self.cacheKey =
            cacheKey ?? "\(url.absoluteString)_thumb_\(maxPixelSize)_\(alwaysCreateThumbnail)"
    }

    public var contentURL: URL? { url }

    /// Reads and makes the thumbnail on the decoding pool.
    /// - Throws: `ThumbnailImageDataProviderError`.
    public func data() async throws -> Data {
        try await DecodingPool.shared.run { try thumbnail() }
    }

    private func thumbnail() throws -> Data {
        // The public error has no room for the reasons; which step failed is what it tells.
        guard let bytes = try? Data(contentsOf: url),
            let image = try? Image.decoding(
                bytes, options: ImageCreatingOptions(onlyFirstFrame: true))
        else { throw ThumbnailImageDataProviderError.invalidImageSource }
        let side = CGSize(width: maxPixelSize, height: maxPixelSize)
        let small = image.kf.downsampled(toPixels: PixelSize(points: side, scale: 1))
        guard (try? small.bitmap()) != nil else {
            throw ThumbnailImageDataProviderError.invalidThumbnail
        }
        let format = bytes.kf.imageFormat
        guard let data = small.kf.data(format: format) ?? small.kf.data(format: .PNG) else {
            throw ThumbnailImageDataProviderError.writeDataError
        }
        guard data.kf.imageFormat != .unknown else {
            throw ThumbnailImageDataProviderError.finalizeDataError
        }
        return data
    }
}
