/// Origin of an image that was asked for with `httpCaching`. Redirects on the way count: an image is
/// ``fresh`` only when the server was asked for none of them either.
public enum HTTPCacheUse: Sendable {
    /// The server sent it (`200`). `stored` tells whether it may be used again.
    case fetched(stored: Bool)
    /// It was cached and fresh: the server was not asked. Also of images that the program itself has
    /// stored.
    case fresh
    /// The server said that the cached one is still good (`304`), or that the way to it is: a redirect was
    /// asked for.
    case validated
    /// It is delivered although its time is over, or that of a redirect on the way.
    case stale(HTTPStaleReason)
}

/// Why an image is delivered whose time is over.
public indirect enum HTTPStaleReason: Sendable {
    /// The server is asked in the background; see `onHTTPRevalidation`.
    case revalidating
    /// The server could not be asked, or answered with an error.
    case error(KingfisherError)
    /// The request accepts that: it asks only the cache, or says so in a field of its own.
    case accepted
}

/// What a revalidation in the background has found.
public enum HTTPRevalidation: Sendable {
    /// The image is still the server's.
    case unchanged
    /// The server has another image now.
    case changed(RetrieveImageResult)
    /// Nothing was found out. What is shown stays.
    case failed(KingfisherError)
}
