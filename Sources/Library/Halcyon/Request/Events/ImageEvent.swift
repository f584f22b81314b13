/// An event in the life of a manager's request.
public struct ImageEvent: Sendable {
    /// The number of a request, unique in the program.
    public struct RequestID: Hashable, Sendable, CustomStringConvertible {
        public let number: UInt64

        public var description: String { "\(number)" }
    }

    public enum Kind: Sendable {
        /// The request has begun.
        case started
        /// The image was found in a cache.
        case found(CacheType)
        /// The original was found in a cache; the image is made from it.
        case foundOriginal
        /// Nothing was found; the request waits for bytes from a download or a data provider,
        /// possibly one already under way for other requests.
        case waiting
        /// The bytes have arrived, with the metrics of a download.
        case transferred(byteCount: Int, NetworkMetrics?)
        /// A revalidation has ended: the cached image is still fresh, or, in the background and
        /// after the end of the request, a stale image's state is now known.
        case revalidated
        /// An image has been made from the bytes, for this request and all that share the work.
        ///
        /// `waiting` is the time until a thread was free, `processing` that of the processor, and
        /// `rendering` that of decoding and all remaining work, which is one pass over the pixels.
        case made(waiting: Duration, processing: Duration, rendering: Duration)
        /// The image, or its bytes, are now in this cache.
        case stored(CacheType)
        /// The request has failed so far and starts again with this source.
        case retried(Source)
        /// The image has been delivered; `.none` if it was loaded.
        case succeeded(CacheType)
        case failed(KingfisherError)
        /// The request was cancelled.
        case cancelled
    }

    /// The request.
    public let request: RequestID
    /// The requested source.
    public let source: Source
    public let time: ContinuousClock.Instant
    public let kind: Kind
}

extension ImageEvent.Kind {
    /// Whether this is the end of the request: only file writes and background revalidations
    /// follow.
    public var isEnd: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        default: false
        }
    }
}
