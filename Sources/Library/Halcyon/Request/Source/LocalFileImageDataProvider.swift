public import Foundation
import HalcyonWork

/// The bytes of a local file.
///
/// Names of files are bytes: percent-encoded in the URL they need not be UTF-8 (`file:///pictures/caf%E9.png`).
public struct LocalFileImageDataProvider: ImageDataProvider {
    public let fileURL: URL
    private let ownKey: String?
    private let loadingQueue: ExecutionQueue

    /// The key that was given, else one of the file's path, size and date: a file that has changed is another
    /// image.
    public var cacheKey: String { ownKey ?? fileURL.localFileCacheKey }

    /// Without `cacheKey`, the key is made of the file's path, size and date. The file is read on
    /// `loadingQueue`.
    public init(
        fileURL: URL, cacheKey: String? = nil,
        loadingQueue: ExecutionQueue = .dispatch(.global(qos: .userInitiated))
    ) {
        self.fileURL = fileURL
        ownKey = cacheKey
        self.loadingQueue = loadingQueue
    }

    public var contentURL: URL? { fileURL }

    /// The bytes of the file.
    public var data: Data {
        get async throws { try await data() }
    }

    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        loadingQueue.execute {
            handler(Result { try Self.contents(of: fileURL) })
        }
    }

    public func data() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            data { continuation.resume(with: $0) }
        }
    }

    private static func contents(of url: URL) throws -> Data {
        guard let path = FilePath(url), path.text == nil else {
            if let failure = FilePath(url)?.streamFailure { throw failure }
            return try Data(contentsOf: url)
        }
        return try path.read()
    }
}

extension LocalFileImageDataProvider: FileImageDataProvider {
    var pinned: any ImageDataProvider {
        ownKey == nil
            ? Self(fileURL: fileURL, cacheKey: cacheKey, loadingQueue: loadingQueue) : self
    }
}

/// A provider whose key depends on what its file is now, unless it was given one.
protocol FileImageDataProvider: ImageDataProvider {
    /// The provider with the key that it has now.
    var pinned: any ImageDataProvider { get }
}

extension Source {
    /// The source with the key that it has now: a request looks for, and stores, one and the same.
    var pinned: Source {
        guard case .provider(let provider) = self,
            let file = provider as? any FileImageDataProvider
        else { return self }
        return .provider(file.pinned)
    }
}

/// Which content of a file is meant: a file that has changed is another image.
struct FileVersion: Equatable {
    let size: Int
    /// Nanoseconds since 1970.
    let modified: Int

    /// `nil` when there is nothing, or nothing that may be looked at.
    init?(of url: URL) {
        guard let status = try? FilePath(url)?.status() else { return nil }
        size = Int(status.st_size)
        modified =
            Int(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
            &+ Int(status.st_mtim.tv_nsec)
    }

    /// As it stands behind the key of the file.
    var suffix: String { "?size=\(size)&modified=\(modified)" }
}
