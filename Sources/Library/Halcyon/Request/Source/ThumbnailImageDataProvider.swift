public import Foundation
import HalcyonWork

/// Why a thumbnail could not be made.
public enum ThumbnailImageDataProviderError: Error, Sendable {
    /// The file is not an image.
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
        case .invalidImageSource: "It is not an image."
        case .invalidThumbnail: "It cannot be decoded."
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
    private let ownKey: String?
    /// The limits that the image must keep before it is decoded.
    public let limits: DecodingLimits

    /// The key that was given, else one of the URL, the file's size and date, and what is made of it.
    public var cacheKey: String {
        if let ownKey { return ownKey }
        let key = "\(url.absoluteString)_thumb_\(maxPixelSize)_\(alwaysCreateThumbnail)"
        return key + (FileVersion(of: url)?.suffix ?? "")
    }

    public init(
        url: URL, maxPixelSize: CGFloat, alwaysCreateThumbnail: Bool = true,
        cacheKey: String? = nil, limits: DecodingLimits = .default
    ) {
        self.url = url
        self.maxPixelSize = maxPixelSize
        self.alwaysCreateThumbnail = alwaysCreateThumbnail
        self.limits = limits
        ownKey = cacheKey
    }

    public var contentURL: URL? { url }

    /// Reads the file like `LocalFileImageDataProvider`, and makes the thumbnail on the decoding pool.
    /// - Throws: `ThumbnailImageDataProviderError`, what is wrong with reading the file, or the limit that
    ///   the image is beyond.
    public func data() async throws -> Data {
        let bytes = try await LocalFileImageDataProvider(fileURL: url).data()
        return try await DecodingPool.shared.run { try thumbnail(of: bytes) }
    }

    private func thumbnail(of bytes: Data) throws -> Data {
        let image = try Self.step(.invalidImageSource) {
            try Image.decoding(
                bytes, options: ImageCreatingOptions(onlyFirstFrame: true, limits: limits))
        }
        let side = CGSize(width: maxPixelSize, height: maxPixelSize)
        let small = image.kf.downsampled(toPixels: PixelSize(points: side, scale: 1))
        _ = try Self.step(.invalidThumbnail) { try small.bitmap() }
        let format = bytes.kf.imageFormat
        guard let data = small.kf.data(format: format) ?? small.kf.data(format: .PNG) else {
            throw ThumbnailImageDataProviderError.writeDataError
        }
        guard data.kf.imageFormat != .unknown else {
            throw ThumbnailImageDataProviderError.finalizeDataError
        }
        return data
    }

    /// Which step failed is what the public error tells, and has no room for the reason; a limit is worth
    /// knowing.
    private static func step<R>(
        _ failure: ThumbnailImageDataProviderError, _ body: () throws -> R
    ) throws -> R {
        do {
            return try body()
        } catch let error as ImageCodingError where error.isBeyondLimit {
            throw error
        } catch {
            throw failure
        }
    }
}

extension ThumbnailImageDataProvider: FileImageDataProvider {
    var pinned: any ImageDataProvider {
        ownKey == nil
            ? Self(
                url: url, maxPixelSize: maxPixelSize,
                alwaysCreateThumbnail: alwaysCreateThumbnail, cacheKey: cacheKey, limits: limits)
            : self
    }
}
