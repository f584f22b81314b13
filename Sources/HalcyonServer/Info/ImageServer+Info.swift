import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServerPlans
import HalcyonWork
import NIOCore

extension ImageServer {
    /// Answers with what is known of a source, for a target behind `/info`.
    func info(
        _ target: String, _ request: ServerRequest, _ notes: inout AnswerNotes
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
        let source = try await sources.find(plan.source, until: request.ending)
        let tag = ResultTag(
            source: source.validator, plan: "info/" + fields.canonicalText, variant: "",
            epoch: Self.epoch
        ).text
        var answer = HTTPFields()
        let caching = cacheControl(.picture(source.originCaching), now: Date())
        answer.append("Cache-Control", caching.field)
        if configuration.http.sendsETag { answer.append("ETag", tag) }
        if configuration.http.sendsETag, conditions(of: request).isMet(tag: tag, lastModified: nil)
        {
            notes.cache = "not_modified"
            return ServerAnswer(status: 304, fields: answer)
        }
        let (data, _) = try await sources.bytes(of: source, until: request.ending)
        let rules = rules
        let result = await DecodingPool.shared.run { () -> Result<String, Failure> in
            do throws(Failure) {
                return .success(
                    try InfoDocument(data, fields: fields.fields, rules: rules).json)
            } catch {
                return .failure(error)
            }
        }
        answer.append("Content-Type", "application/json")
        return ServerAnswer(
            status: 200, fields: answer, body: ByteBuffer(string: try result.get() + "\n"))
    }
}
