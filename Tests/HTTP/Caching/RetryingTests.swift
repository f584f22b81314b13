import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

@Suite("Waiting for servers, and remembered errors") struct RetryingTests {
    private func delay(_ fields: HTTPFields, status: Int = 503) -> TimeInterval? {
        RetryAfter.delay(status: status, fields: fields, received: noon)
    }

    private func date(_ seconds: TimeInterval) -> String {
        HTTPDateText.fixed(noon.addingTimeInterval(seconds))
    }

    @Test("Retry-After is seconds or a date, up to a day") func retryAfter() {
        #expect(delay(["Retry-After": "120"]) == 120)
        #expect(delay(["Retry-After": "99999999999999999999"]) == 86_400)
        #expect(delay(["Retry-After": date(90)]) == 90 && delay(["Retry-After": date(-90)]) == 0)
        #expect(delay(["Retry-After": date(1e8)]) == 86_400)
        #expect(delay(["Retry-After": "soon", "Retry-After": "7"]) == 7)
        for text in ["", "-1", "1.5", "soon"] { #expect(delay(["Retry-After": text]) == nil) }
        #expect(delay([:]) == nil)
    }

    @Test("A date is compared with the answer's own, so that clocks need not agree")
    func skewedClock() {
        #expect(delay(["Retry-After": date(5030), "Date": date(5000)]) == 30)
        #expect(delay(["Retry-After": date(30), "Date": "x"]) == 30)
    }

    @Test("It is looked at for statuses that mean waiting") func statuses() {
        for status in [413, 429, 503] { #expect(delay(["Retry-After": "7"], status: status) == 7) }
        for status in [200, 301, 404, 500] {
            #expect(delay(["Retry-After": "7"], status: status) == nil)
        }
    }

    @Test("Waiting doubles up to its limit, and chance moves it within its bounds") func backoff() {
        let backoff = ExponentialBackoff(base: 5, limit: 60)
        #expect(
            [1, 2, 3, 4, 5, 99].map { backoff.delay(afterFailures: $0, chance: 0.5) }
                == [5, 10, 20, 40, 60, 60])
        #expect(backoff.delay(afterFailures: 2, chance: 0) == 8)
        #expect(backoff.delay(afterFailures: 2, chance: 1) == 12)
        #expect(backoff.delay(afterFailures: .max, chance: .nan) == 60)
        #expect(backoff.delay(afterFailures: .min, chance: 9) == 6)
        let odd = ExponentialBackoff(base: .nan, limit: -1, jitter: .infinity)
        #expect(odd.delay(afterFailures: 3, chance: 1) == 0)
    }

    @Test("A server is paused for as long as it asks, at most 5 minutes") func pause() {
        var pause = FailurePause(.serverPause)
        #expect(pause.end(at: noon) == nil)
        pause.noteAnswer(status: 429, fields: ["Retry-After": "20"], received: noon, chance: 0.5)
        #expect(pause.end(at: noon) == noon.addingTimeInterval(20))
        #expect(pause.end(at: noon.addingTimeInterval(20)) == nil)
        pause.noteAnswer(status: 503, fields: ["Retry-After": "4000"], received: noon, chance: 0.5)
        #expect(pause.end(at: noon) == noon.addingTimeInterval(300))
        pause.noteAnswer(status: 503, fields: ["Retry-After": "1"], received: noon, chance: 0.5)
        #expect(pause.end(at: noon) == noon.addingTimeInterval(300), "never shorter")
        pause.noteAnswer(status: 404, fields: [:], received: noon, chance: 0.5)
        #expect(pause.end(at: noon) != nil)
        var other = FailurePause(.serverPause)
        for status in [413, 500] {
            other.noteAnswer(
                status: status, fields: ["Retry-After": "40"], received: noon, chance: 0.5)
        }
        #expect(other.end(at: noon) == nil)
        pause.noteAnswer(status: 304, fields: [:], received: noon, chance: 0.5)
        #expect(pause.end(at: noon) == nil)
    }

    @Test("A server that does not say how long is left alone for longer each time")
    func unspecifiedPause() {
        var pause = FailurePause(.serverPause)
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [TimeInterval] {
            pause.noteAnswer(status: 503, fields: [:], received: noon, chance: 0.5)
            #expect(pause.end(at: noon) == noon.addingTimeInterval(seconds))
        }
    }

    @Test("A response whose validation fails is not asked about for longer each time")
    func failingValidation() {
        var pause = FailurePause(.whileStaleOnError)
        for seconds in [5, 10, 20, 40, 60, 60] as [TimeInterval] {
            pause.noteFailure(at: noon, chance: 0)
            #expect(pause.end(at: noon) == noon.addingTimeInterval(seconds))
        }
        pause.noteFailure(at: noon, retryAfter: 90, chance: 0)
        #expect(pause.end(at: noon) == noon.addingTimeInterval(90))
        pause.noteSuccess()
        pause.noteFailure(at: noon, chance: 0)
        #expect(pause.end(at: noon) == noon.addingTimeInterval(5))
    }

    @Test("Errors are remembered only where that is asked for, and for a limited time")
    func negative() {
        func seconds(
            _ fields: HTTPFields, status: Int = 404, _ policy: HTTPCachePolicy = .testing(.shared)
        ) -> TimeInterval? {
            policy.rememberedUntil(.at(noon: fields, status: status))?.timeIntervalSince(noon)
        }
        #expect(seconds(["Cache-Control": "max-age=9"], .testing(.on)) == nil && seconds([:]) == 60)
        #expect(seconds([:], status: 410) == 60)
        #expect(seconds(["Cache-Control": "max-age=9", "Age": "2"]) == 7)
        #expect(seconds(["Cache-Control": "max-age=999"]) == 300)
        #expect(seconds(["Cache-Control": "max-age=0"]) == nil)
        #expect(seconds(["Cache-Control": "no-cache"]) == nil)
        #expect(seconds(["Last-Modified": date(-1e6)]) == 60, "nothing is guessed for errors")
        #expect(seconds([:], .testing(.shared) { $0.fixedLifetime = 9999 }) == 60)
        let all = HTTPCachePolicy.testing { $0.negative = .on(statuses: Set(100...599)) }
        for status in [200, 301, 401, 403, 429, 500, 503] {
            #expect(seconds(["Cache-Control": "max-age=9"], status: status, all) == nil)
        }
    }

    @Test("A remembered error answers until its end, unless the request wants the server's word")
    func negativeHit() {
        let stored = StoredResponse.at(noon: [:], status: 404)
        func answers(
            _ fields: HTTPFields = [:], at age: TimeInterval = 1,
            policy: HTTPCachePolicy = .testing(.shared)
        ) -> Bool {
            policy.answersWithRemembered(stored, .get(fields), now: noon.addingTimeInterval(age))
        }
        #expect(answers() && answers(at: 59.9) && !answers(at: 60) && !answers(at: -1))
        #expect(!answers(["Cache-Control": "no-cache"]) && !answers(["Cache-Control": "max-age=0"]))
        #expect(!answers(["If-None-Match": "*"]))
        #expect(!answers(policy: .testing(.shared) { $0.validation = .always }))
        #expect(!answers(policy: .testing(.on)))
    }
}

@Suite("Stale responses instead of errors") struct StaleOnFailureTests {
    private func uses(
        _ control: String, _ failure: CacheRequestFailure, at age: TimeInterval,
        wish: String? = nil, _ policy: HTTPCachePolicy = .testing()
    ) -> Bool {
        policy.usesStale(
            .cacheControl(control), for: .get(wish.map { ["Cache-Control": $0] } ?? [:]),
            after: failure, now: noon.addingTimeInterval(age))
    }

    @Test("An unreachable server is no reason to show nothing") func unreachable() {
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

    @Test("Settings allow stale use without the server's word, or forbid it") func settings() {
        let upTo = HTTPCachePolicy.testing { $0.staleIfError = .upTo(9) }
        #expect(uses("max-age=60", .status(503), at: 68, upTo))
        #expect(!uses("max-age=60", .status(503), at: 69, upTo))
        #expect(!uses("max-age=60, must-revalidate", .status(503), at: 61, upTo))
        let never = HTTPCachePolicy.testing { $0.staleIfError = .never }
        #expect(!uses("max-age=60, stale-if-error=9", .status(503), at: 61, never))
        #expect(uses("max-age=60", .noAnswer, at: 61, never))
    }

    @Test("When shared, s-maxage needs the response's own stale-if-error") func shared() {
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
