public import Foundation

/// Gives the bytes of an image that is not downloaded.
///
/// Implement at least one form of `data`; each has a default in terms of the other.
public protocol ImageDataProvider: Sendable {
    /// The key the image is cached under.
    var cacheKey: String { get }

    /// The bytes. Cancelling the request cancels the task this runs in.
    func data() async throws -> Data

    /// Gives the bytes to `handler`, exactly once, on any thread.
    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void)

    /// Where the content is, if that can be said. `nil` by default.
    var contentURL: URL? { get }
}

extension ImageDataProvider {
    public func data() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            data { continuation.resume(with: $0) }
        }
    }

    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        Task {
            do {
                handler(.success(try await data()))
            } catch {
                handler(.failure(error))
            }
        }
    }

    public var contentURL: URL? { nil }

    /// This provider as a source.
    public func convertToSource() -> Source { .provider(self) }
}

/// Bytes that are in memory already.
public struct RawImageDataProvider: ImageDataProvider {
    /// The bytes of the image file.
    public let data: Data
    public let cacheKey: String

    public init(data: Data, cacheKey: String) {
        self.data = data
        self.cacheKey = cacheKey
    }

    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        handler(.success(data))
    }
}

/// Bytes given as Base64 text.
public struct Base64ImageDataProvider: ImageDataProvider {
    /// The text; line breaks are allowed.
    public let base64String: String
    public let cacheKey: String

    public init(base64String: String, cacheKey: String) {
        self.base64String = base64String
        self.cacheKey = cacheKey
    }

    /// Gives the bytes before it returns; `Base64Error` when the text is not Base64.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        let text = base64String.filter { !$0.isWhitespace }
        guard let data = Data(base64Encoded: text) else {
            handler(.failure(Base64Error(cacheKey: cacheKey)))
            return
        }
        handler(.success(data))
    }

    /// The text of a provider is not Base64.
    public struct Base64Error: Error, CustomStringConvertible {
        public let cacheKey: String
        public var description: String { "The text given for \(cacheKey) is not Base64." }
    }
}
