import HalcyonWork
import NIOCore
import NIOHTTP1

/// Carries out the plan of one response that waits or misbehaves.
struct Exchange: Sendable {
    var state: OriginState
    var connection: Connection
    var requestID: Int
    var head: HTTPResponseHead
    var closesAfterwards: Bool

    /// Sends everything; ends early when the connection is gone or the task is cancelled.
    func run(_ plan: ResponsePlan) async {
        do {
            try await send(plan)
        } catch {
            // The client has left.
            state.traffic.update { $0.responseEnded(requestID, abandoned: true) }
            await connection.abort(.close)
        }
    }

    private func send(_ plan: ResponsePlan) async throws {
        for pause in plan.leadIn { try await state.pause(pause) }
        if plan.sendsHead {
            if plan.steps.isAtEnd { finish() }
            if !plan.isRaw { try await write(.head(head)) }
            try await sendBody(plan.steps, isRaw: plan.isRaw)
        }
        finish()
        if let how = plan.abort { return await connection.abort(how) }
        try await write(.end(nil))
        if closesAfterwards { await connection.abort(.close) }
    }

    private func sendBody(_ body: BodySteps, isRaw: Bool) async throws {
        var steps = body
        while let step = steps.next() {
            try Task.checkCancellation()
            switch step {
            case .wait(let pause): try await state.pause(pause)
            case .bytes(let bytes):
                // A client may send its next request as soon as it has the last byte.
                if steps.isAtEnd { finish() }
                if isRaw {
                    try await connection.sendRaw(bytes)
                } else {
                    try await write(.body(.byteBuffer(bytes)))
                }
            }
        }
    }

    private func finish() { state.traffic.update { $0.responseEnded(requestID, abandoned: false) } }

    private func write(_ part: HTTPServerResponsePart) async throws {
        try await connection.channel.writeAndFlush(part)
    }
}
