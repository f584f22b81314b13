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
