import Foundation

/// What makes two reads of one image from the disk the same.
struct LookupIdentity: Hashable, Sendable {
    private let key: String
    private let forcedExtension: String?
    private let scale: CGFloat
    private let preloadsAll: Bool
    private let onlyFirstFrame: Bool
    private let limits: DecodingLimits?
    private let usesOriginals: Bool

    /// `nil` when the image must be read for this request alone, because its serializer is the
    /// caller's own.
    init?(_ key: String, _ options: KingfisherParsedOptionsInfo) {
        let serializer = options.cacheSerializer
        guard
            serializer is DefaultCacheSerializer || serializer is FormatIndicatedCacheSerializer
        else { return nil }
        self.key = key.computedKey(with: options.processor.identifier)
        forcedExtension = options.forcedExtension
        scale = options.scaleFactor
        preloadsAll = options.preloadAllAnimationData
        onlyFirstFrame = options.onlyLoadFirstFrame
        limits = options.decodingLimits
        usesOriginals = serializer.originalDataUsed
    }
}
