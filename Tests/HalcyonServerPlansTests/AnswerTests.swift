import Foundation
import Testing

@testable import HalcyonServerPlans

/// Which format an answer has by what the client accepts.
struct AcceptNegotiationTests {
    @Test(
        arguments: [
            (nil, nil, nil), ("*/*", nil, nil), ("image/*", nil, nil),
            ("image/avif,image/webp,image/apng,image/*,*/*;q=0.8", .avif, .webp),
            ("image/webp,image/avif;q=0.5", .webp, .webp),
            ("image/avif;q=0,image/webp", .webp, .webp),
            ("image/jpeg,image/webp;q=0.9", nil, nil), ("image/WEBP", .webp, .webp),
            ("image/webp;q=abc,image/avif", .avif, nil), ("text/html", nil, nil),
            ("image/webp;q=1.001,image/avif;q=0.5", .avif, nil),
            ("image/webp;q=0.1234", nil, nil),
            ("image/webp; Q=0.5 , image/png;q=0.4", .webp, .webp),
            ("image/png;q=0.6,image/webp;q=0.5", nil, nil),
            ("image/webp;a=\"x,y;q=0\";q=0.5", .webp, .webp), ("", nil, nil),
            (",,;q=1,/", nil, nil),
            ("image/avif;q=0.5,image/webp;q=0.5", .avif, .webp),
        ] as [(String?, OutputFormat?, OutputFormat?)])
    func theBestNamedFormatIsChosen(accept: String?, both: OutputFormat?, webp: OutputFormat?) {
        let lines = accept.map { [$0] } ?? []
        let modern = AcceptNegotiation(formats: [.avif, .webp])
        #expect(modern.format(accept: lines, isAnimated: false) == both)
        #expect(
            AcceptNegotiation(formats: [.webp]).format(accept: lines, isAnimated: false) == webp)
        #expect(AcceptNegotiation(formats: []).format(accept: lines, isAnimated: false) == nil)
    }

    @Test func animationsBecomeWebPOrStayAsTheyAre() {
        let negotiation = AcceptNegotiation(formats: [.avif, .webp, .jxl])
        #expect(negotiation.format(accept: ["image/avif"], isAnimated: true) == nil)
        #expect(negotiation.format(accept: ["image/avif,image/webp"], isAnimated: true) == .webp)
    }

    @Test func whatCannotBeWrittenIsPassedOver() {
        let negotiation = AcceptNegotiation(formats: [.avif, .webp])
        let format = negotiation.format(
            accept: ["image/avif", "image/webp"], isAnimated: false, canWrite: { $0 != .avif })
        #expect(format == .webp)
    }

    @Test func onlyURLsWithoutFormatDependOnAccept() {
        let negotiation = AcceptNegotiation(formats: [.webp])
        var plan = ImagePlan(source: "a")
        #expect(negotiation.concerns(plan))
        #expect(!AcceptNegotiation(formats: []).concerns(plan))
        plan.options.format = .png
        #expect(!negotiation.concerns(plan))
    }

    @Test(
        arguments: [
            ([], true), (["*/*"], true), (["application/ld+json"], true),
            (["application/json"], false), (["application/ld+json;q=0.5, application/json"], false),
            (["application/json;q=0.5, */*"], true), (["text/html"], true),
            (["application/ld+json;profile=\"a,b\""], true),
        ] as [([String], Bool)])
    func aDocumentIsLinkedDataUnlessPlainJSONIsPreferred(accept: [String], isLinked: Bool) {
        let type = DocumentNegotiation.infoType(accept: accept)
        #expect(type.hasPrefix("application/ld+json;") == isLinked)
        #expect(isLinked || type == "application/json")
    }
}

/// What a browser says about the size it needs.
struct ClientHintsTests {
    private func hints(_ fields: [String: [String]]) -> ClientHints {
        ClientHints { fields[$0] ?? [] }
    }

    @Test(
        arguments: [
            ([:], nil, nil), (["DPR": ["2"]], nil, 2),
            (["Sec-CH-DPR": ["1.2"], "DPR": ["3"]], nil, 1.5),
            (["DPR": ["1", "2.5"]], nil, 3), (["DPR": ["1, 2.5"]], nil, 3),
            (["DPR": ["8"]], nil, 3),
            (["DPR": ["9"]], nil, nil), (["DPR": ["0"]], nil, nil), (["DPR": ["-1"]], nil, nil),
            (["Sec-CH-DPR": ["1e9"]], nil, nil), (["DPR": ["nan"]], nil, nil),
            (["DPR": [""]], nil, nil),
            (["Width": ["300"]], 320, nil), (["Sec-CH-Width": ["321"]], 480, nil),
            (["Width": ["99999"]], 3840, nil), (["Width": ["300.5"]], nil, nil),
            (["Width": ["0"]], nil, nil), (["Width": ["640"], "DPR": ["2"]], 320, 2),
            (["Width": ["600"], "DPR": ["2.2"]], 214, 3),
        ] as [([String: [String]], Int?, Double?)])
    func hintsAreRoundedUpToSteps(fields: [String: [String]], width: Int?, dpr: Double?) {
        #expect(hints(fields) == ClientHints(width: width, dpr: dpr))
    }
}

/// How long answers may be kept.
struct CacheControlDecisionTests {
    private typealias Decision = CacheControlDecision

    private func field(
        _ answer: CacheControlDecision.Answer = .picture(nil), expires: Int? = nil,
        _ change: (inout CacheControlDecision.Settings) -> Void = { _ in }
    ) -> String {
        var settings = CacheControlDecision.Settings()
        change(&settings)
        return Decision(answer, expires: expires, now: 1000, settings: settings).field
    }

    @Test func aPictureIsKeptAsLongAsTheServerSays() {
        #expect(field() == "public, max-age=31536000")
        #expect(field { $0.ttl = 60 } == "public, max-age=60")
        #expect(field { $0.ttl = 0 } == "no-cache")
        #expect(field { $0.keepsNothing = true } == "no-store")
        #expect(
            field { $0.staleWhileRevalidate = 30 }
                == "public, max-age=31536000, stale-while-revalidate=30")
    }

    @Test func nothingIsKeptBeyondTheEndOfItsURL() {
        #expect(field(expires: 1060) == "public, max-age=60")
        #expect(field(expires: 900) == "public, max-age=0")
        #expect(field(expires: 5000) { $0.ttl = 10 } == "public, max-age=10")
        #expect(field(expires: 1060) { $0.staleWhileRevalidate = 30 } == "public, max-age=60")
        #expect(field(.failure(.deadline), expires: 1060) == "no-store")
    }

    @Test func theFallbackIsKeptShortly() {
        #expect(field(.fallback) == "public, max-age=60")
        #expect(field(.fallback) { $0.fallbackTTL = 0 } == "no-cache")
    }

    @Test func failuresAreKeptByTheirKind() {
        #expect(field(.failure(.invalidOption)) == "no-store")
        #expect(field(.failure(.invalidOption)) { $0.errorTTL = 9 } == "public, max-age=9")
        #expect(field(.failure(.sourceStatus(404))) == "public, max-age=5")
        #expect(field(.failure(.sourceUnreachable)) { $0.negativeTTL = 0 } == "no-store")
        for failure in [ServerFailure.busy, .deadline, .draining, .forbidden, .sourceTimeout] {
            #expect(field(.failure(failure)) { $0.errorTTL = 9 } == "no-store")
        }
    }

    @Test(
        arguments: [
            ([], nil, "public, max-age=31536000"),
            (["max-age=60"], nil, "max-age=60"),
            (["public, max-age=99999999999999999999"], nil, "public, max-age=31536000"),
            (
                ["private, max-age=60, proxy-revalidate, community=\"x\""], nil,
                "private, max-age=60"
            ),
            (["no-store"], 60, "no-store"), (["no-cache"], 60, "no-cache"),
            (
                ["Public, Max-Age=60", "s-maxage=30, immutable"], 5,
                "public, max-age=60, s-maxage=30, immutable"
            ),
            ([], 60, "max-age=60"), ([], -5, "max-age=0"),
            (
                ["stale-while-revalidate=10, max-age=20, max-age=99"], nil,
                "stale-while-revalidate=10, max-age=20"
            ),
            (["max-age=abc"], nil, "max-age=0"), (["public"], 7, "public, max-age=7"),
        ] as [([String], Double?, String)])
    func anOriginsWordIsHandedOnWhereThatIsWished(
        cacheControl: [String], expires: Double?, expected: String
    ) {
        let origin = Decision.OriginCaching(cacheControl: cacheControl, expiresAfter: expires)
        #expect(field(.picture(origin)) { $0.passesOriginOn = true } == expected)
        #expect(field(.picture(origin)) == "public, max-age=31536000")
    }

    @Test func whatAnOriginKeepsToItselfIsNotStored() {
        var settings = Decision.Settings()
        func isStorable(_ text: String) -> Bool {
            Decision(
                .picture(.init(cacheControl: [text])), now: 0, settings: settings
            ).isStorable
        }
        #expect(isStorable("private") && isStorable("no-store"))
        settings.passesOriginOn = true
        #expect(!isStorable("private") && !isStorable("no-store") && isStorable("max-age=5"))
    }
}

/// Tags of results, and what clients have already.
struct ConditionalRequestTests {
    @Test func aTagDependsOnAllItsParts() {
        let tag = ResultTag(source: "v", plan: "p", variant: "f", epoch: "e").text
        #expect(tag.hasPrefix("W/\"") && tag.hasSuffix("\"") && tag.utf8.count == 26)
        #expect(tag == ResultTag(source: "v", plan: "p", variant: "f", epoch: "e").text)
        let others = [
            ResultTag(source: "x", plan: "p", variant: "f", epoch: "e"),
            ResultTag(source: "v", plan: "x", variant: "f", epoch: "e"),
            ResultTag(source: "v", plan: "p", variant: "x", epoch: "e"),
            ResultTag(source: "v", plan: "p", variant: "f", epoch: "x"),
            ResultTag(source: "vp", plan: "", variant: "f", epoch: "e"),
        ].map(\.text)
        #expect(!others.contains(tag) && Set(others).count == others.count)
    }

    @Test(
        arguments: [
            (["W/\"a\""], true), (["\"a\""], true), (["\"b\", W/\"a\""], true), (["*"], true),
            (["\"b\"", "\"a\""], true), (["\"b\""], false), (["a"], false), (["\"a,b\""], false),
            (["\"a"], false), (["w/\"a\""], false),
        ] as [([String], Bool)])
    func tagsAreComparedWeakly(ifNoneMatch: [String], isMet: Bool) {
        let request = ConditionalRequest(ifNoneMatch: ifNoneMatch)
        #expect(request.isConditional)
        #expect(request.isMet(tag: "W/\"a\"", lastModified: nil) == isMet)
    }

    @Test func datesCountWhereThereIsNoTag() {
        let date = Date(timeIntervalSince1970: 1000)
        let later = Date(timeIntervalSince1970: 1001)
        let request = ConditionalRequest(ifModifiedSince: date)
        #expect(request.isMet(tag: "W/\"a\"", lastModified: date))
        #expect(request.isMet(tag: "W/\"a\"", lastModified: date.addingTimeInterval(0.9)))
        #expect(!request.isMet(tag: "W/\"a\"", lastModified: later))
        #expect(!request.isMet(tag: "W/\"a\"", lastModified: nil))
        let both = ConditionalRequest(ifNoneMatch: ["\"b\""], ifModifiedSince: later)
        #expect(!both.isMet(tag: "W/\"a\"", lastModified: date))
        #expect(!ConditionalRequest().isConditional)
    }

    @Test func aThousandTagsAreRead() {
        let tags = (0..<5000).map { "\"\($0)\"" }.joined(separator: ", ")
        let request = ConditionalRequest(ifNoneMatch: [tags])
        #expect(request.isMet(tag: "W/\"999\"", lastModified: nil))
        #expect(!request.isMet(tag: "W/\"1000\"", lastModified: nil))
    }
}

/// Names for those who save a picture.
struct ContentDispositionTests {
    private func field(_ source: String, _ change: (inout ProcessingOptions) -> Void = { _ in })
        -> String
    {
        var plan = ImagePlan(source: source)
        change(&plan.options)
        return ContentDisposition(plan: plan, format: .webp).field
    }

    @Test(arguments: [
        ("local:///a/b/photo.png", "photo"), ("https://example.com/a/x.y.jpg?n=z.png", "x.y"),
        ("https://example.com", "image"), ("https://example.com/", "image"),
        ("https://example.com/a/", "image"), ("https://example.com/a%20b.jpg", "a b"),
        ("https://example.com/.hidden", ".hidden"), ("plain", "plain"),
        ("local:/a/b.jpg", "b"), ("https://example.com/50%.jpg", "50%"),
    ])
    func aNameIsTheLastPartOfTheSource(source: String, name: String) {
        #expect(field(source) == "inline; filename=\"\(name).webp\"")
    }

    @Test func theURLSaysNameAndWhetherToSave() {
        #expect(
            field("local:///a.png") {
                $0.filename = "holiday"
                $0.asAttachment = true
            } == "attachment; filename=\"holiday.webp\"")
    }

    @Test(arguments: [
        ("é", "inline; filename=\"_.webp\"; filename*=UTF-8''%C3%A9.webp"),
        ("a\"b", "inline; filename=\"a_b.webp\"; filename*=UTF-8''a%22b.webp"),
        ("a\\b", "inline; filename=\"a_b.webp\"; filename*=UTF-8''a%5Cb.webp"),
        ("a\r\nX: y", "inline; filename=\"a__X: y.webp\""), ("", "inline; filename=\"image.webp\""),
        ("a\u{85}b", "inline; filename=\"a_b.webp\""),
    ])
    func whatAHeaderCannotSayIsWrittenTwice(name: String, expected: String) {
        #expect(field("x") { $0.filename = name } == expected)
    }

    @Test func longNamesAreCutAtTheirEnd() {
        for name in [
            String(repeating: "a", count: 9000), String(repeating: "é", count: 9000),
            "🦜" + String(repeating: "\u{301}", count: 5000), String(repeating: "\"", count: 500),
        ] {
            let field = field("x") { $0.filename = name }
            #expect(field.utf8.count <= 150 && field.utf8.count > 120)
            #expect(field.contains(".webp") && !field.contains("\n"))
        }
    }
}

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
            (.expired, 404, "expired", .errorTTL, false),
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
            (.busy, 429, "busy", .never, false),
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
