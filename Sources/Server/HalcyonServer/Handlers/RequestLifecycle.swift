import HalcyonHTTP
import HalcyonServerURLs
import HalcyonTelemetry
import HalcyonWork
import NIOCore
import Tracing

/// Everything around the handler of a request: its span, the count of requests under way, the answer
/// to an error, the header fields of all responses, the log.
struct RequestLifecycle: Sendable {
    let proxies: [IPNetwork]
    let spans: RequestSpans
    let state: ServerState
    let errors: ErrorAnswers
    let fields: CommonFields
    let log: AccessLog

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

struct RequestSpans: Sendable {
    let scope: SpanScope
    let paths: LoggedPaths
    let time: TimeSource

    /// The span of a request, below that of the client's `traceparent` or of the application around the
    /// server; `nil` without a tracer, and for questions about health.
    func begin(_ request: ServerRequest) -> (any Span)? {
        guard let tracer = scope.tracer else { return nil }
        if request.asksForHealth { return nil }
        var context = ServiceContext.topLevel
        if let outer = ServiceContext.current {
            context = outer
        } else {
            tracer.extract(request.fields, into: &context, using: FieldExtractor())
        }
        let span = tracer.startSpan(
            "halcyon.request", context: context, ofKind: .server,
            at: TraceClock(time).time(request.start))
        span.updateAttributes { attributes in
            attributes["http.request.method"] = request.method
            attributes["url.path"] = paths.text(of: request)
            attributes["halcyon.request.id"] = request.id
            if let peer = request.peer { attributes["client.address"] = peer }
        }
        return span
    }

    func end(_ span: any Span, with answer: ServerAnswer) {
        let notes = answer.notes
        span.updateAttributes { attributes in
            attributes["http.route"] = notes.route
            attributes["http.response.status_code"] = answer.notedStatus
            attributes["http.response.body.size"] = answer.body?.readableBytes ?? 0
            attributes["halcyon.cache"] = notes.cache
            if let input = notes.input { attributes["halcyon.source.format"] = input }
            if let output = notes.output { attributes["halcyon.result.format"] = output }
            if let width = notes.width, let height = notes.height {
                attributes["halcyon.pixels"] = width * height * (notes.frames ?? 1)
            }
            if let failure = notes.failure { attributes["error.type"] = failure.kind.code }
        }
        // What a client has done wrong is no error of the server's.
        if answer.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from fields: HTTPFields) -> String? { fields.first(key) }
}
