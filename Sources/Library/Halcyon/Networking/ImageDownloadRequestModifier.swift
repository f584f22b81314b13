public import FoundationNetworking

/// Changes a request before it is sent, possibly after waiting for something, such as a token.
public protocol AsyncImageDownloadRequestModifier: Sendable {
    /// The request to send in place of `request`; `nil` fails it with `emptyRequest`.
    func modified(for request: URLRequest) async -> URLRequest?

    /// Told of the download's task once there is one, before it runs.
    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { get }
}

/// Changes a request before it is sent.
public protocol ImageDownloadRequestModifier: AsyncImageDownloadRequestModifier {
    /// The request to send in place of `request`; `nil` fails it with `emptyRequest`.
    func modified(for request: URLRequest) -> URLRequest?
}

extension ImageDownloadRequestModifier {
    public func modified(for request: URLRequest) async -> URLRequest? {
        let change: (URLRequest) -> URLRequest? = modified(for:)
        return change(request)
    }

    public var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
}

/// A request modifier made of a closure.
public struct AnyModifier: ImageDownloadRequestModifier {
    private let block: @Sendable (URLRequest) -> URLRequest?

    public init(modify: @escaping @Sendable (URLRequest) -> URLRequest?) {
        block = modify
    }

    public func modified(for request: URLRequest) -> URLRequest? {
        block(request)
    }
}
