import Testing

@testable import HalcyonServerURLs

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
        for (word, kept) in [
            ("immutable, max-age=99999, stale-if-error=9", "max-age=60"),
            ("public", "public, max-age=60"), ("private, max-age=9", "private, max-age=9"),
        ] {
            let origin = Decision.OriginCaching(cacheControl: [word])
            #expect(field(.picture(origin), expires: 1060) { $0.passesOriginOn = true } == kept)
        }
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
            ([], nil, "public, max-age=31536000"), (["max-age=60"], nil, "max-age=60"),
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
            Decision(.picture(.init(cacheControl: [text])), now: 0, settings: settings).isStorable
        }
        #expect(isStorable("private") && isStorable("no-store"))
        settings.passesOriginOn = true
        #expect(!isStorable("private") && !isStorable("no-store") && isStorable("max-age=5"))
    }
}
