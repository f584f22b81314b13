import HalcyonHTTP
import HalcyonServerURLs
import NIOCore

struct ErrorAnswers: Sendable {
    let caching: AnswerCaching
    let gates: WorkGates
    /// Whether URLs need no signature, which is possible where nobody but this machine can connect:
    /// it is the operator who asks.
    let isUnsigned: Bool
    /// The amount that clients are told.
    let detail: ImageServerConfiguration.ErrorBodies

    /// - Parameter explaining: Whether to give the reason whatever the settings say, as to operators.
    func answer(
        _ failure: Failure, to request: ServerRequest, explaining: Bool = false
    ) -> ServerAnswer {
        let isFull = explaining || isUnsigned || detail == .full
        let body = ErrorBody(
            text(of: failure), detail: isFull ? .full : .brief,
            accept: request.fields.values("Accept"), requestID: request.id)
        var fields: HTTPFields = ["Content-Type": body.contentType]
        fields.append("Cache-Control", caching.field(.failure(failure.kind)))
        if failure.isRemembered { fields.append("Cache-Status", "halcyon; hit; detail=negative") }
        if failure.kind.asksToRetry {
            let wait = failure.kind == .deadline ? gates.secondsUntilFree : 1
            fields.append("Retry-After", String(failure.retryAfter ?? wait))
        }
        if failure.kind == .methodNotAllowed { fields.append("Allow", ServerAnswer.methods) }
        if failure.kind == .draining { fields.append("Connection", "close") }
        return ServerAnswer(
            status: failure.kind.status, fields: fields, body: ByteBuffer(string: body.text))
    }

    /// The text for a client: to operators, it says what they can change.
    func text(of failure: Failure) -> PlanError { failure.told(advising: isUnsigned) }
}
