import NIOCore

/// All that will be sent in answer to one request.
struct ResponsePlan: Sendable {
    /// How the exchange ends.
    enum Ending: Equatable, Sendable {
        /// The message is complete; the connection stays open if the client wants.
        case complete
        /// The message is cut off here.
        case abort(Abort)
    }

    /// Waits before anything is sent.
    var leadIn: [Pause] = []
    var status = 200
    /// With `Content-Length` unless the length is not to be told.
    var headers = HeaderFields()
    /// Sent instead of an HTTP message.
    var raw: ByteBuffer?
    /// `false` when the connection ends before the header.
    var sendsHead = true
    var steps: BodySteps = .none
    var ending = Ending.complete

    /// The body when it goes out in one piece and nothing has to be waited for.
    var immediateBody: ByteBuffer? {
        guard leadIn.isEmpty, raw == nil, sendsHead, ending == .complete else { return nil }
        return steps.immediate
    }
}
