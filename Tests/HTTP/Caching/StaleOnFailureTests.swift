import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("Stale responses instead of errors")
struct StaleOnFailureTests {
    private func uses(
        _ control: String, _ failure: CacheRequestFailure, at age: TimeInterval,
        wish: String? = nil, _ policy: HTTPCachePolicy = .testing()
    ) -> Bool {
        policy.usesStale(
            .cacheControl(control), for: .get(wish.map { ["Cache-Control": $0] } ?? [:]),
            after: failure, now: noon.addingTimeInterval(age))
    }

    @Test("An unreachable server is no reason to show nothing")
    func unreachable() {
        #expect(uses("max-age=60", .noAnswer, at: 1e6))
        #expect(!uses("max-age=60", .noAnswer, at: 61, wish: "no-cache"))
        #expect(!uses("max-age=60", .noAnswer, at: 61, wish: "max-age=99"))
        #expect(!uses("max-age=60, must-revalidate", .noAnswer, at: 61))
        #expect(!uses("no-cache", .noAnswer, at: 61))
        let policy = HTTPCachePolicy.testing { $0.staleWhenUnreachable = false }
        #expect(!uses("max-age=60", .noAnswer, at: 61, policy))
    }

    @Test("A server's error needs stale-if-error", arguments: [429, 500, 502, 503, 504])
    func serverError(status: Int) {
        #expect(!uses("max-age=60", .status(status), at: 61))
        #expect(uses("max-age=60, stale-if-error=9", .status(status), at: 68.9))
        #expect(!uses("max-age=60, stale-if-error=9", .status(status), at: 69))
        #expect(uses("max-age=60", .status(status), at: 61, wish: "stale-if-error=9"))
        #expect(
            !uses(
                "max-age=60, stale-if-error=1", .status(status), at: 62, wish: "stale-if-error=9"),
            "the response's word comes first")
    }

    @Test(
        "Answers that say something else, and failures of trust and content, are not covered up",
        arguments: [400, 401, 403, 404, 410, 501].map { CacheRequestFailure.status($0) } + [.other])
    func otherFailures(failure: CacheRequestFailure) {
        #expect(!uses("max-age=60, stale-if-error=999", failure, at: 61))
    }

    @Test("When the time of stale-if-error is over, an unreachable server changes nothing")
    func windowOver() {
        #expect(uses("max-age=60, stale-if-error=9", .noAnswer, at: 68))
        #expect(!uses("max-age=60, stale-if-error=9", .noAnswer, at: 69))
    }

    @Test("Settings allow stale use without the server's word, or forbid it")
    func settings() {
        let upTo = HTTPCachePolicy.testing { $0.staleIfError = .upTo(9) }
        #expect(uses("max-age=60", .status(503), at: 68, upTo))
        #expect(!uses("max-age=60", .status(503), at: 69, upTo))
        #expect(!uses("max-age=60, must-revalidate", .status(503), at: 61, upTo))
        let never = HTTPCachePolicy.testing { $0.staleIfError = .never }
        #expect(!uses("max-age=60, stale-if-error=9", .status(503), at: 61, never))
        #expect(uses("max-age=60", .noAnswer, at: 61, never))
    }

    @Test("When shared, s-maxage needs the response's own stale-if-error")
    func shared() {
        let shared = HTTPCachePolicy.testing(.shared)
        #expect(!uses("s-maxage=60", .noAnswer, at: 61, shared))
        #expect(!uses("s-maxage=60", .status(503), at: 61, wish: "stale-if-error=9", shared))
        #expect(uses("s-maxage=60, stale-if-error=9", .status(503), at: 61, shared))
    }

    @Test("Neither an invalidated response nor a request of the program's own gets one")
    func neverUsed() {
        let policy = HTTPCachePolicy.testing()
        let invalidated = StoredResponse.at(noon: ["ETag": "\"a\""], isInvalidated: true)
        #expect(!policy.usesStale(invalidated, for: .get(), after: .noAnswer, now: noon))
        #expect(!policy.usesStale(nil, for: .get(), after: .noAnswer, now: noon))
        let stored = StoredResponse.at(noon: [:])
        #expect(
            !policy.usesStale(stored, for: .get(["Range": "bytes=0-"]), after: .noAnswer, now: noon)
        )
        let post = HTTPCacheRequest(method: "POST", url: stored.url)
        #expect(!policy.usesStale(stored, for: post, after: .noAnswer, now: noon))
    }
}
