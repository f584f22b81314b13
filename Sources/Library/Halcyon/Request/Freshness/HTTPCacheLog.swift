import Foundation
import HalcyonHTTP

/// Something that was decided about a stored response, or that came of it.
struct HTTPCacheEvent: Sendable {
    enum Kind: Sendable {
        /// What is in memory is fresh, so that there is nothing to decide.
        case freshInMemory
        /// The program itself has stored the image.
        case storedByProgram
        /// What is to be done. Without a copy that a `304` would make good, what is to be validated or
        /// used is fetched.
        case decision(HTTPCacheDecision, hasCopy: Bool)
        /// The server is not asked because it has said before that there is nothing.
        case rememberedError(status: Int)
        /// What the server has answered, and the bytes of its content that were received.
        case answer(status: Int, byteCount: Int64)
        /// A stale image is delivered in place of an error.
        case staleInsteadOfError(KingfisherError)
    }

    /// The response key, or that of the image in memory.
    let key: String
    let kind: Kind
    /// Age and lifetime, in seconds, of what is stored; `nil` when nothing is.
    var freshness: (age: TimeInterval, lifetime: TimeInterval)?

    /// Key, age and lifetime for the log.
    var details: [String: String] {
        var details = ["key": key.maskingSecrets]
        if let (age, lifetime) = freshness {
            details["age"] = "\(Int(clamping: age)) s"
            details["lifetime"] = "\(Int(clamping: lifetime)) s"
        }
        return details
    }

    /// What happened, in words.
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

/// Tells what is decided about stored responses: the log, where it wants messages of the level `debug`.
struct HTTPCacheLog: Sendable {
    private let listener: (@Sendable (HTTPCacheEvent) -> Void)?

    /// - Parameter listener: Told everything in place of the log.
    init(_ listener: (@Sendable (HTTPCacheEvent) -> Void)? = nil) {
        self.listener = listener
    }

    /// `event` is made only if anybody wants it.
    func note(_ event: () -> HTTPCacheEvent) {
        if let listener { return listener(event()) }
        guard HalcyonLog.tellsDetails else { return }
        let event = event()
        HalcyonLog.detail(event.message, event.details)
    }
}

extension Int {
    /// The whole seconds of a time, whatever it is.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int(exactly: seconds.rounded(.down)) ?? (seconds > 0 ? .max : 0)
    }
}

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
