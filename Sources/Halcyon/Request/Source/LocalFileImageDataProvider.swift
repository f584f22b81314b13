public import Foundation
import Glibc

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

/// Something at the path of a file that is none, so that reading it could wait or go on for ever.
struct NotAFile: LocalizedError {
    private let path: String
    private let kind: String

    /// What is at a path, following links; `nil` for a file, a folder, and what cannot be looked at.
    init?(at path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        switch info.st_mode & S_IFMT {
        case S_IFIFO: kind = "a FIFO"
        case S_IFSOCK: kind = "a socket"
        case S_IFCHR, S_IFBLK: kind = "a device"
        default: return nil
        }
        self.path = path
    }

    var errorDescription: String? { "\(path) is \(kind), not a file." }
}
