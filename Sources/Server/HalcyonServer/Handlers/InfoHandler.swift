import Foundation
import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import HalcyonWork
import NIOCore

extension ImageServer {
    /// Answers with what is known of a source, for a target behind `/info`.
    func info(
        _ target: String, _ request: ServerRequest, _ notes: inout AnswerNotes,
        from scope: SourceScope = .servers
    ) async throws(Failure) -> ServerAnswer {
        let signed = try verified(target)
        let (fields, plan) = try Failure.ofPlan { () throws(PlanError) in
            let fields = try InfoFields(path: signed.path)
            return (fields, try sourceParser.parse(path: fields.sourcePath))
        }
        notes.source = plan.source
        let timer = startTimer(request)
        defer { timer.cancel() }
        request.watch()
        let source = try await source(plan.source, from: scope, for: request)
        let tag = ResultTag(
            source: source.validator, plan: "info/" + fields.canonicalText,
            variant: rules.tellsPrivateMetadata ? "all" : "",
            epoch: epoch
        ).text
        var answer = HTTPFields()
        let caching = cacheControl(.picture(source.originCaching), now: time.date)
        answer.append("Cache-Control", caching.field)
        if configuration.http.sendsETag { answer.append("ETag", tag) }
        if configuration.http.sendsETag, conditions(of: request).isMet(tag: tag, lastModified: nil)
        {
            notes.cache = "not_modified"
            return ServerAnswer(status: 304, fields: answer)
        }
        let (text, isHit) = try await infos.text(
            of: source, fields: fields, isStorable: mayKeepResults(of: source),
            by: request.start + configuration.work.requestTimeout, until: request.ending)
        notes.cache = isHit ? "hit" : "miss"
        answer.append("Content-Type", "application/json")
        return ServerAnswer(status: 200, fields: answer, body: ByteBuffer(string: text + "\n"))
    }
}
