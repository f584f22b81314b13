import Foundation
import Testing

@testable import HalcyonServerURLs

/// The table of failures.
struct ServerFailureTests {
    @Test(
        arguments: [
            (.badRequest, 400, "bad_request", .never, false),
            (.invalidPath, 404, "invalid_path", .errorTTL, false),
            (.invalidOption, 404, "invalid_option", .errorTTL, false),
            (.unsupportedOption, 404, "unsupported_option", .errorTTL, false),
            (.optionForbidden, 403, "option_forbidden", .errorTTL, false),
            (.forbidden, 403, "forbidden", .never, false),
            (.expired, 404, "expired", .never, false),
            (.iiifSize, 400, "iiif_size", .errorTTL, false),
            (.notFound, 404, "not_found", .negativeTTL, false),
            (.formatUnsupported, 422, "format_unsupported", .errorTTL, false),
            (.sourceNotAllowed, 404, "source_not_allowed", .negativeTTL, false),
            (.sourceUnreachable, 404, "source_unreachable", .negativeTTL, true),
            (.sourceNotFound, 404, "source_not_found", .negativeTTL, true),
            (.sourceStatus(410), 410, "source_status", .negativeTTL, true),
            (.sourceStatus(503), 502, "source_status", .negativeTTL, true),
            (.sourceBusy, 503, "source_busy", .never, true),
            (.sourceTimeout, 504, "source_timeout", .never, true),
            (.sourceIncomplete, 422, "source_incomplete", .never, true),
            (.sourceTooLarge, 422, "source_too_large", .negativeTTL, true),
            (.sourceFormat, 422, "source_format", .negativeTTL, true),
            (.sourceTooComplex, 422, "source_too_complex", .negativeTTL, true),
            (.sourceDamaged, 422, "source_damaged", .negativeTTL, true),
            (.urlTooLong, 414, "too_long", .never, false),
            (.headersTooLarge, 431, "too_long", .never, false),
            (.methodNotAllowed, 405, "method_not_allowed", .never, false),
            (.methodUnknown, 501, "method_unknown", .never, false),
            (.busy, 429, "busy", .never, false), (.memoryShort, 503, "memory", .never, false),
            (.deadline, 503, "deadline", .never, false),
            (.draining, 503, "draining", .never, false),
            (.clientGone, 499, "client_gone", .never, false),
            (.internalError, 500, "internal", .never, false),
        ] as [(ServerFailure, Int, String, ServerFailure.Caching, Bool)])
    func aFailureHasItsAnswer(
        failure: ServerFailure, status: Int, code: String, caching: ServerFailure.Caching,
        allowsFallback: Bool
    ) {
        #expect(failure.status == status && failure.code == code)
        #expect(failure.caching == caching && failure.allowsFallback == allowsFallback)
        #expect(!failure.summary.isEmpty && !failure.summary.contains("\n"))
    }

    @Test(
        arguments: [
            (
                [
                    .badRequest, .expired, .urlTooLong, .headersTooLarge, .methodNotAllowed,
                    .methodUnknown, .draining, .clientGone,
                ], .debug
            ),
            (
                [
                    .invalidPath, .invalidOption, .optionForbidden, .forbidden, .iiifSize,
                    .notFound, .formatUnsupported, .sourceNotFound, .sourceStatus(404),
                    .sourceFormat, .sourceDamaged,
                ], .info
            ),
            (
                [
                    .sourceNotAllowed, .sourceUnreachable, .sourceBusy, .sourceStatus(500),
                    .sourceTimeout, .sourceIncomplete, .sourceTooLarge, .sourceTooComplex, .busy,
                    .deadline, .memoryShort,
                ], .warning
            ),
            ([.internalError], .error),
        ] as [([ServerFailure], ServerFailure.LogLevel)])
    func aFailureIsLoggedByItsWeight(failures: [ServerFailure], level: ServerFailure.LogLevel) {
        for failure in failures { #expect(failure.logLevel == level, "\(failure)") }
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
