import Foundation
import Testing

@testable import HalcyonServerURLs

/// The table of failures, with the weight that they have in the log.
struct ServerFailureTests {
    @Test(
        arguments: [
            (.badRequest, 400, "bad_request", .never, false, .debug),
            (.invalidPath, 404, "invalid_path", .errorTTL, false, .info),
            (.invalidOption, 404, "invalid_option", .errorTTL, false, .info),
            (.unsupportedOption, 404, "unsupported_option", .errorTTL, false, .info),
            (.optionForbidden, 403, "option_forbidden", .errorTTL, false, .info),
            (.forbidden, 403, "forbidden", .never, false, .info),
            (.expired, 404, "expired", .never, false, .debug),
            (.iiifSize, 400, "iiif_size", .errorTTL, false, .info),
            (.notFound, 404, "not_found", .negativeTTL, false, .info),
            (.formatUnsupported, 422, "format_unsupported", .errorTTL, false, .info),
            (.sourceNotAllowed, 404, "source_not_allowed", .negativeTTL, false, .warning),
            (.sourceUnreachable, 404, "source_unreachable", .negativeTTL, true, .warning),
            (.sourceNotFound, 404, "source_not_found", .negativeTTL, true, .info),
            (.sourceStatus(410), 410, "source_status", .negativeTTL, true, .info),
            (.sourceStatus(503), 502, "source_status", .negativeTTL, true, .warning),
            (.sourceBusy, 503, "source_busy", .never, true, .warning),
            (.sourceTimeout, 504, "source_timeout", .never, true, .warning),
            (.sourceIncomplete, 422, "source_incomplete", .never, true, .warning),
            (.sourceTooLarge, 422, "source_too_large", .negativeTTL, true, .warning),
            (.sourceFormat, 422, "source_format", .negativeTTL, true, .info),
            (.sourceTooComplex, 422, "source_too_complex", .negativeTTL, true, .warning),
            (.sourceDamaged, 422, "source_damaged", .negativeTTL, true, .info),
            (.urlTooLong, 414, "too_long", .never, false, .debug),
            (.headersTooLarge, 431, "too_long", .never, false, .debug),
            (.methodNotAllowed, 405, "method_not_allowed", .never, false, .debug),
            (.methodUnknown, 501, "method_unknown", .never, false, .debug),
            (.busy, 429, "busy", .never, false, .warning),
            (.memoryShort, 503, "memory", .never, false, .warning),
            (.deadline, 503, "deadline", .never, false, .warning),
            (.draining, 503, "draining", .never, false, .debug),
            (.clientGone, 499, "client_gone", .never, false, .debug),
            (.internalError, 500, "internal", .never, false, .error),
        ] as [(ServerFailure, Int, String, ServerFailure.Caching, Bool, ServerFailure.LogLevel)])
    func aFailureHasItsAnswer(
        failure: ServerFailure, status: Int, code: String, caching: ServerFailure.Caching,
        allowsFallback: Bool, level: ServerFailure.LogLevel
    ) {
        #expect(failure.status == status && failure.code == code)
        #expect(failure.caching == caching && failure.allowsFallback == allowsFallback)
        #expect(failure.logLevel == level)
        #expect(!failure.summary.isEmpty && !failure.summary.contains("\n"))
    }

    @Test func whoIsRefusedForLoadIsToldWhenToTryAgain() {
        for failure in [ServerFailure.busy, .deadline, .draining, .sourceBusy] {
            #expect(failure.asksToRetry)
        }
        #expect(!ServerFailure.sourceTimeout.asksToRetry && !ServerFailure.forbidden.asksToRetry)
    }

    @Test func aBodyTellsDetailsOnlyWhereThatIsWished() {
        let error = PlanError(.invalidOption, "Option w: “x” has to be a number.")
        let brief = ErrorBody(error, detail: .brief, accept: [], requestID: "7")
        #expect(brief.text == "Invalid URL\n" && brief.contentType.hasPrefix("text/plain"))
        let full = ErrorBody(error, detail: .full, accept: ["image/*"], requestID: "7")
        #expect(full.text == "Invalid URL: Option w: “x” has to be a number.\n")
    }

    @Test func aBodyIsJSONWhereThatIsAccepted() throws {
        let error = PlanError(.invalidOption, "a \"b\" \\ \u{1} é")
        let body = ErrorBody(
            error, detail: .full, accept: ["application/json, text/plain;q=0.5"], requestID: "r-1")
        #expect(body.contentType == "application/json")
        let fields = try JSONDecoder().decode([String: String].self, from: Data(body.text.utf8))
        #expect(
            fields == [
                "code": "invalid_option", "message": "Invalid URL: a \"b\" \\ \u{1} é",
                "requestId": "r-1",
            ])
    }
}
