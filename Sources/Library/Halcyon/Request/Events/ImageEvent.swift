/// Something that happened to a request of a manager.
public struct ImageEvent: Sendable {
    /// The number of a request, different for all requests of the program.
    public struct RequestID: Hashable, Sendable, CustomStringConvertible {
        public let number: UInt64

        public var description: String { "\(number)" }
    }

    public enum Kind: Sendable {
        /// The request has begun.
        case started
        /// The image was found in a cache.
        case found(CacheType)
        /// The original was found in a cache, and the image is made of it.
        case foundOriginal
        /// Nothing was found, and bytes are waited for: those of a download or a data provider, which may be
        /// under way already for others.
        case waiting
        /// The bytes have come, with what was measured of a download.
        case transferred(byteCount: Int, NetworkMetrics?)
        /// The server was asked about what is cached: it is still good, or, in the background and behind the
        /// end of the request, something has been learnt of a stale image.
        case revalidated
        /// An image has been made of the bytes for this request and all that share the work.
        ///
        /// `waiting` is the time until a thread was free for it, `processing` what the processor took, and
        /// `rendering` decoding and what else was left to do, which is one pass over the pixels.
        case made(waiting: Duration, processing: Duration, rendering: Duration)
        /// The image, or its bytes, are in this cache now.
        case stored(CacheType)
        /// The request has failed so far and begins anew, with this source.
        case retried(Source)
        /// The image is there; `.none` when it was loaded.
        case succeeded(CacheType)
        case failed(KingfisherError)
        /// The request was cancelled.
        case cancelled
    }

    /// The request.
    public let request: RequestID
    /// What it asked for.
    public let source: Source
    public let time: ContinuousClock.Instant
    public let kind: Kind
}

extension ImageEvent.Kind {
    /// Whether nothing follows but files that are still being written, and what is learnt in the background.
    public var isEnd: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        default: false
        }
    }
}
