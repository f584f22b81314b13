public import Foundation

/// The files of a live photo that a request delivered, and where they were found.
public struct LivePhotoLoadingInfoResult: Sendable {
    /// The cached files, in the order of the source's resources.
    public let fileURLs: [URL]
    /// `.disk` when all files were cached, `.none` when at least one had to be loaded.
    public let cacheType: CacheType
    /// The source the files came from.
    public let source: LivePhotoSource
    /// The source that was asked for.
    public let originalSource: LivePhotoSource
    /// The bytes of the files that were loaded, in order; nothing for those that were cached.
    public let data: @Sendable () -> [Data]

    public init(
        fileURLs: [URL], cacheType: CacheType, source: LivePhotoSource,
        originalSource: LivePhotoSource, data: @escaping @Sendable () -> [Data]
    ) {
        self.fileURLs = fileURLs
        self.cacheType = cacheType
        self.source = source
        self.originalSource = originalSource
        self.data = data
    }
}
