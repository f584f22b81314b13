public import Foundation

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
