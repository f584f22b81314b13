import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import Tracing

/// What every request goes through around its handler: its span, the count of requests under way,
/// the answer to an error, the header fields of all responses, the log.
struct RequestLifecycle: Sendable {
    let proxies: [IPNetwork]
    let spans: RequestSpans
    let state: ServerState
    let errors: ErrorAnswers
    let fields: CommonFields
    let log: AccessLog

    /// Answers a request with what `handler` returns or throws.
    func answer(
        _ request: ServerRequest,
        by handler: (ServerRequest, inout AnswerNotes) async throws(Failure) -> ServerAnswer
    ) async -> ServerAnswer {
        let request = request.believing(proxies)
        guard let span = spans.begin(request) else { return await handled(request, by: handler) }
        let answer = await ServiceContext.$current.withValue(span.context) {
            await handled(request, by: handler)
        }
        spans.end(span, with: answer)
        return answer
    }

    private func handled(
        _ request: ServerRequest,
        by handler: (ServerRequest, inout AnswerNotes) async throws(Failure) -> ServerAnswer
    ) async -> ServerAnswer {
        await state.underWay(request) {
            var notes = AnswerNotes()
            var answer: ServerAnswer
            do throws(Failure) {
                answer = try await handler(request, &notes)
            } catch {
                notes.failure = error
                answer = errors.answer(error, to: request)
            }
            answer.notes = notes
            fields.complete(&answer, for: request)
            log.note(answer, to: request)
            return answer
        }
    }

    /// Answers a request that could not be parsed.
    func refusal(_ failure: Failure, peer: String?) -> ServerAnswer {
        let request = ServerRequest(
            method: "", target: "", fields: [:], peer: peer, start: spans.time.now)
        var answer = errors.answer(failure, to: request)
        answer.notes.failure = failure
        fields.complete(&answer, for: request)
        log.note(answer, to: request)
        return answer
    }
}
