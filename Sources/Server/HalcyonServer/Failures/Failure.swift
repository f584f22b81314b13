import HalcyonServerURLs
import HalcyonWork

/// Why a request is not answered with a picture.
///
/// What goes to the client is decided by `kind` alone; `detail` is for the log, and for clients only where
/// error bodies are full.
struct Failure: Error, Hashable, Sendable {
    typealias Kind = ServerFailure

    let kind: Kind
    /// The reason in words, without addresses, paths of files, keys or bytes of sources.
    let detail: String
    /// What is told to nobody but the log.
    var cause: String?
    /// Seconds after which it may go better.
    var retryAfter: Int?
    /// Of a source that is refused whatever its server would say: by what, in a word for metrics.
    var refusal: String?
    /// Whether it was memory for decoding that could not be had.
    var lacksMemory = false
    /// Whether the source ended the worker that decoded it.
    var hasStoppedDecoder = false
    /// Whether it tells of the way from this server to the source, which others may have.
    var isOfThisServer = false
    /// Whether it was found out for an earlier request, and nobody was asked for this one.
    var isRemembered = false

    init(
        _ kind: Kind, _ detail: String, cause: String? = nil, retryAfter: Int? = nil,
        refusal: String? = nil
    ) {
        self.kind = kind
        self.detail = detail
        self.cause = cause
        self.retryAfter = retryAfter
        self.refusal = refusal
    }

    init(_ shortage: LargeMemory.Shortage) {
        self.init(.memoryShort, "There is not enough memory at the moment", cause: "\(shortage)")
        lacksMemory = true
    }

    init(_ error: PlanError) {
        self.init(error.failure, error.reason, refusal: error.refusal?.rawValue)
    }

    /// The result of `work`, if there is memory for it.
    static func withRoom<Value>(
        _ work: () throws(LargeMemory.Shortage) -> Value
    ) throws(Failure) -> Value {
        do {
            return try work()
        } catch {
            throw Failure(error)
        }
    }

    /// What `work` returns; what it throws is thrown as a failure.
    static func ofPlan<Value>(_ work: () throws(PlanError) -> Value) throws(Failure) -> Value {
        do {
            return try work()
        } catch {
            throw Failure(error)
        }
    }
}
