import HalcyonServerURLs
import HalcyonWork

/// The reason why a request is not answered with a picture.
///
/// The response depends on `kind` alone; `detail` is for the log, and for clients only where error
/// bodies are full.
struct Failure: Error, Hashable, Sendable {
    typealias Kind = ServerFailure

    let kind: Kind
    /// The reason in words, without addresses, file paths, keys or bytes of sources.
    let detail: String
    /// Details for the log only.
    var cause: String?
    /// Seconds until a retry may succeed.
    var retryAfter: Int?
    /// The reason for refusing a source whatever its server would say, in a word for metrics.
    var refusal: String?
    var lacksMemory = false
    var hasStoppedDecoder = false
    /// Whether the cause lies between this server and the source, so that others may reach it.
    var isOfThisServer = false
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

    static let nothingThere = Failure(.notFound, "There is nothing at this path")

    init(_ shortage: LargeMemory.Shortage) {
        self.init(.memoryShort, "There is not enough memory at the moment", cause: "\(shortage)")
        lacksMemory = true
    }

    init(_ error: PlanError) {
        self.init(error.failure, error.reason, refusal: error.refusal?.rawValue)
    }

    /// Returns the result of `work`; a shortage of memory is thrown as a failure.
    static func withRoom<Value>(
        _ work: () throws(LargeMemory.Shortage) -> Value
    ) throws(Failure) -> Value {
        do {
            return try work()
        } catch {
            throw Failure(error)
        }
    }

    /// Returns the result of `work`; its error is thrown as a failure.
    static func ofPlan<Value>(_ work: () throws(PlanError) -> Value) throws(Failure) -> Value {
        do {
            return try work()
        } catch {
            throw Failure(error)
        }
    }
}
