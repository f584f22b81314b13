import HalcyonCluster
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore

/// Answers with what is known of sources: `/info/SIGNATURE/…`.
struct InfoHandler: Sendable {
    let urls: URLReader
    let sources: RequestSources
    let infos: InfoReader
    let caching: AnswerCaching
    let timer: RequestTimer

    /// Answers with what is known of a source, for a target behind `/info`.
    ///
    /// - Parameter uploads: The only sources, if set.
    func answer(
        _ target: String, _ request: ServerRequest, _ notes: inout AnswerNotes,
        from uploads: PageUploads? = nil
    ) async throws(Failure) -> ServerAnswer {
        let signed = try urls.verified(target)
        let (fields, plan) = try Failure.ofPlan { () throws(PlanError) in
            let fields = try InfoFields(path: signed.path)
            return (fields, try urls.rules.sourceParser.parse(path: fields.sourcePath))
        }
        notes.source = plan.source
        let alarm = timer.start(request)
        defer { alarm.cancel() }
        request.watch()
        let source = try await sources.find(plan.source, in: uploads, for: request)
        var answer: HTTPFields = [
            "Cache-Control": caching.field(.picture(source.originCaching))
        ]
        if caching.sendsETag {
            let tag = infos.rules.tag(
                plan: "info/" + fields.canonicalText,
                variant: infos.rules.tellsPrivateMetadata ? "all" : "")(source.validator)
            answer.append("ETag", tag)
            if caching.isKnown(tag, to: request) {
                notes.cache = "not_modified"
                return ServerAnswer(status: 304, fields: answer)
            }
        }
        let (text, isHit) = try await infos.text(
            of: source, fields: fields, isStorable: caching.mayKeepResults(of: source),
            by: timer.deadline(of: request), until: request.ending)
        notes.cache = isHit ? "hit" : "miss"
        answer.append("Content-Type", "application/json")
        return ServerAnswer(status: 200, fields: answer, body: ByteBuffer(string: text + "\n"))
    }
}
