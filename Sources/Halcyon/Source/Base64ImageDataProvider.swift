public import Foundation

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
