import Foundation
import HalcyonWork

extension ImageCache {
    /// Returns the original for an image to be processed, from memory or from disk; one from disk
    /// is not decoded yet, so that a smaller image can be made from its bytes without decoding it
    /// whole.
    ///
    /// Simultaneous requests get the same original, and so share the work on it.
    /// - Parameters:
    ///   - options: The options of the original, with the default processor.
    ///   - retention: Lets the request share an original that other requests have used up
    ///     meanwhile.
    ///   - isCurrent: Whether the original is still wanted; see `lookup`.
    ///   - origin: See `lookup`.
    /// - Returns: The original; `nil` if there is none.
    func original(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, during retention: OriginalRetention?,
        isCurrent: (@Sendable () -> Bool)?, origin: ImageOrigin? = nil
    ) async throws(KingfisherError) -> ImageMaterial? {
        guard let lookup = LookupKey(key, options, of: origin) else {
            return try await readOriginal(key, options, isCurrent, origin).get()
        }
        let result: Result<ImageMaterial?, KingfisherError>? =
            await originals.wantedResult(
                for: lookup, during: retention?.retention, isWanted: isCurrent
            ) {
                work in
                let result = await readOriginal(key, options, { work.isWanted }, origin)
                if case .success(nil) = result, work.isGivenUp { return nil }
                return result
            }
        return try result?.get()
    }

    /// Keeps an original that a request may need, until `release()` is called.
    func retainOriginal(_ key: ImageKey, options: KingfisherParsedOptionsInfo) -> OriginalRetention?
    {
        LookupKey(key, options).map {
            OriginalRetention(cache: self, retention: originals.retain($0), options: options)
        }
    }

    private func readOriginal(
        _ key: ImageKey, _ options: KingfisherParsedOptionsInfo,
        _ isCurrent: (@Sendable () -> Bool)?, _ origin: ImageOrigin?
    ) async -> Result<ImageMaterial?, KingfisherError> {
        do throws(KingfisherError) {
            return .success(try await material(key, options, isCurrent, origin))
        } catch {
            return .failure(error)
        }
    }

    private func material(
        _ key: ImageKey, _ options: KingfisherParsedOptionsInfo,
        _ isCurrent: (@Sendable () -> Bool)?, _ origin: ImageOrigin?
    ) async throws(KingfisherError) -> ImageMaterial? {
        if isSubclass {
            return try await overriddenLookup(key, options: options, isCurrent: isCurrent).image
                .map { ImageMaterial(.image($0)) }
        }
        if let image = memoryImage(key, options: options, of: origin),
            let item = ImageProcessItem(inMemory: image, options)
        {
            return ImageMaterial(item)
        }
        if options.fromMemoryCacheOrRefresh { return nil }
        var data = try await diskData(key, options: options, isCurrent: isCurrent)
        if data == nil, origin == nil {
            data = await bring(key, options: options, isCurrent: isCurrent)
        }
        guard let data, isCurrent?() ?? true else { return nil }
        // Only its header is read here: later steps may need fewer than all of its pixels.
        let image = await DecodingPool.shared.run {
            options.cacheSerializer.image(with: data, options: options)
        }
        guard let image else {
            await removeFile(of: key, ifHolding: data)
            return nil
        }
        return ImageMaterial(.image(image), file: data)
    }
}

extension ImageProcessItem {
    /// Creates an item from an original in memory, for a request that may want other frames than
    /// the one that stored it; `nil` if the original must be read anew.
    fileprivate init?(inMemory image: Image, _ options: KingfisherParsedOptionsInfo) {
        if image.hasFrames(of: options) {
            self = .image(image)
        } else if let data = image.animatedSource?.data {
            self = .data(data)
        } else if options.onlyLoadFirstFrame, let first = try? image.firstFrame() {
            self = .image(first)
        } else {
            return nil
        }
    }
}

extension Image {
    /// Whether it has the frames required by `options`.
    func hasFrames(of options: KingfisherParsedOptionsInfo) -> Bool {
        options.onlyLoadFirstFrame ? frameCount == 1 : !isFirstFrame
    }
}

/// A hold on an original that a request may need, until it is released.
struct OriginalRetention: Sendable {
    fileprivate let cache: ImageCache
    fileprivate let retention:
        SharedWork<LookupKey, Result<ImageMaterial?, KingfisherError>?>.Retention
    /// The options of the original.
    let options: KingfisherParsedOptionsInfo

    func release() {
        cache.originals.release(retention)
    }
}
