public import Foundation

/// The bytes of a local file.
public struct LocalFileImageDataProvider: ImageDataProvider {
    public let fileURL: URL
    public let cacheKey: String
    private let loadingQueue: ExecutionQueue

    /// Without `cacheKey`, the key is made of the file's path. The file is read on `loadingQueue`.
    public init(
        fileURL: URL, cacheKey: String? = nil,
        loadingQueue: ExecutionQueue = .dispatch(.global(qos: .userInitiated))
    ) {
        self.fileURL = fileURL
        self.cacheKey = cacheKey ?? fileURL.localFileCacheKey
        self.loadingQueue = loadingQueue
    }

    public var contentURL: URL? { fileURL }

    /// The bytes of the file.
    public var data: Data {
        get async throws { try await data() }
    }

    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        loadingQueue.execute {
            handler(
                Result {
                    if let thing = NotAFile(at: fileURL.path) { throw thing }
                    return try Data(contentsOf: fileURL)
                })
        }
    }

    public func data() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            data { continuation.resume(with: $0) }
        }
    }
}
