public import FoundationNetworking

/// Decides on redirects of a download.
public protocol ImageDownloadRedirectHandler: Sendable {
    /// The request to follow the redirect with; `nil` takes the redirect response as the answer.
    func handleHTTPRedirection(
        for task: SessionDataTask, response: HTTPURLResponse, newRequest: URLRequest
    ) async -> URLRequest?
}

/// A redirect handler made of a closure.
public struct AnyRedirectHandler: ImageDownloadRedirectHandler {
    private let block:
        @Sendable (SessionDataTask, HTTPURLResponse, URLRequest, @escaping (URLRequest?) -> Void) ->
            Void

    /// `handle` must call its last argument exactly once.
    public init(
        handle:
            @escaping @Sendable (
                SessionDataTask, HTTPURLResponse, URLRequest, @escaping (URLRequest?) -> Void
            ) -> Void
    ) {
        block = handle
    }

    public func handleHTTPRedirection(
        for task: SessionDataTask, response: HTTPURLResponse, newRequest: URLRequest
    ) async -> URLRequest? {
        await withCheckedContinuation { continuation in
            block(task, response, newRequest) { continuation.resume(returning: $0) }
        }
    }
}
