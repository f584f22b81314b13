import Foundation

/// A decision about a stored response, or its result.
struct HTTPCacheEvent: Sendable {
    enum Kind: Sendable {
        /// The image in memory is fresh, so no decision is needed.
        case freshInMemory
        case storedByProgram
        /// The decision. Without a copy that a `304` could confirm, validation and use become a
        /// fetch.
        case decision(HTTPCacheDecision, hasCopy: Bool)
        /// No request is sent because of an earlier error response.
        case rememberedError(status: Int)
        /// The status of the server's response, and the size of its received content.
        case answer(status: Int, byteCount: Int64)
        case staleInsteadOfError(KingfisherError)
    }

    /// The response key, or that of the image in memory.
    let key: String
    let kind: Kind
    /// The age and lifetime of the stored response, in seconds; `nil` if there is none.
    var freshness: (age: TimeInterval, lifetime: TimeInterval)?

    var details: [String: String] {
        var details = ["key": key.maskingSecrets]
        if let (age, lifetime) = freshness {
            details["age"] = "\(Int(clamping: age)) s"
            details["lifetime"] = "\(Int(clamping: lifetime)) s"
        }
        return details
    }

    var message: String {
        switch kind {
        case .freshInMemory: "used: it is fresh in memory"
        case .storedByProgram: "used: the program has stored it"
        case .decision(let decision, let hasCopy): decision.words(hasCopy: hasCopy)
        case .rememberedError(let status): "not asked for: the answer was \(status) before"
        case .answer(let status, let byteCount): "answered \(status) with \(byteCount) bytes"
        case .staleInsteadOfError(let error):
            "used though stale, instead of an error: \(error.readableDescription)"
        }
    }
}

extension HTTPCacheDecision {
    fileprivate func words(hasCopy: Bool) -> String {
        switch self {
        case .use where hasCopy: "used: it is fresh"
        case .useStale(let revalidates) where hasCopy:
            revalidates ? "used though stale, and revalidated" : "used though stale"
        case .use, .useStale: "fetched: the wanted image is not cached"
        case .validate(_, let reason) where hasCopy: "validated: \(reason.words)"
        case .validate(_, let reason), .fetch(let reason): "fetched: \(reason.words)"
        case .unsatisfiable(let reason): "not there: \(reason.words)"
        }
    }
}

extension CacheMissReason {
    fileprivate var words: String {
        switch self {
        case .method: "the method is not GET"
        case .requestNoStore: "the request says no-store"
        case .ownConditions: "the request has conditions of its own"
        case .nothingStored: "nothing is stored"
        case .varyMismatch: "what is stored is for other request fields"
        case .requestNoCache: "the request says no-cache"
        case .responseNoCache: "the response says no-cache"
        case .validationAlways: "the settings say always"
        case .invalidated: "it is invalidated"
        case .clockSetBack: "it is from the future"
        case .requestMaxAge: "it is older than the request allows"
        case .requestMinFresh: "it is not fresh for as long as the request wants"
        case .stale: "it is stale"
        }
    }
}

/// The log of decisions about stored responses, at the level `debug`.
struct HTTPCacheLog: Sendable {
    private let listener: (@Sendable (HTTPCacheEvent) -> Void)?

    /// - Parameter listener: Receives all events in place of the log.
    init(_ listener: (@Sendable (HTTPCacheEvent) -> Void)? = nil) {
        self.listener = listener
    }

    /// Logs an event; `event` is called only if it will be used.
    func note(_ event: () -> HTTPCacheEvent) {
        if let listener { return listener(event()) }
        guard HalcyonLog.tellsDetails else { return }
        let event = event()
        HalcyonLog.detail(event.message, event.details)
    }
}

extension Int {
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int(exactly: seconds.rounded(.down)) ?? (seconds > 0 ? .max : 0)
    }
}

/// The origin of an image requested with `httpCaching`. Redirects on the way count: an image is
/// ``fresh`` only if none of them was requested from the server either.
public enum HTTPCacheUse: Sendable {
    /// Sent by the server (`200`). `stored` is whether it may be used again.
    case fetched(stored: Bool)
    /// Cached and fresh, so no request was sent. Also for images stored by the program itself.
    case fresh
    /// Confirmed by the server (`304`), or reached through a redirect that was requested from it.
    case validated
    /// Delivered although stale, or although a redirect on the way was.
    case stale(HTTPStaleReason)
}

/// The reason for delivering a stale image.
public indirect enum HTTPStaleReason: Sendable {
    /// It is being revalidated in the background; see `onHTTPRevalidation`.
    case revalidating
    /// The server could not be reached, or responded with an error.
    case error(KingfisherError)
    /// The request accepts it: it is limited to the cache, or has a header field that allows it.
    case accepted
}

/// The result of a revalidation in the background.
public enum HTTPRevalidation: Sendable {
    /// The image is still current.
    case unchanged
    /// The server has a new image.
    case changed(RetrieveImageResult)
    /// The revalidation failed. The image on display stays.
    case failed(KingfisherError)
}
