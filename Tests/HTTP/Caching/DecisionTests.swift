import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("Using stored responses")
struct DecisionTests {
    private let policy = HTTPCachePolicy.testing()
    private let tag = ValidationCondition.entityTag(EntityTag("\"a\""))

    /// A response with a lifetime of 60 s, and more directives.
    private func minute(_ more: String = "") -> StoredResponse {
        .cacheControl("max-age=60" + more, ["ETag": "\"a\""])
    }

    @Test("A fresh response is used, a stale one validated")
    func freshOrStale() {
        #expect(policy.decide(with: minute(), at: 59.9) == .use)
        #expect(policy.decide(with: minute(), at: 60) == .validate(tag, because: .stale))
        #expect(
            policy.decide(with: .cacheControl("max-age=60"), at: 60) == .fetch(because: .stale),
            "without a validator")
        #expect(policy.decide(with: nil, at: 0) == .fetch(because: .nothingStored))
    }

    @Test("Requests of other methods are sent as they are")
    func method() {
        let request = HTTPCacheRequest(method: "HEAD", url: minute().url)
        let selection = policy.select(request, among: [minute()])
        #expect(policy.decide(request, with: selection, now: noon) == .fetch(because: .method))
    }

    @Test("A request with no-store is sent as it is")
    func requestNoStore() {
        #expect(
            policy.decide(["Cache-Control": "no-store"], with: minute(), at: 0)
                == .fetch(because: .requestNoStore))
    }

    @Test(
        "A request with conditions of its own is sent as it is",
        arguments: [
            "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
            "range",
        ])
    func ownConditions(name: String) {
        #expect(
            policy.decide([name: "x"], with: minute(), at: 0) == .fetch(because: .ownConditions))
    }

    @Test("no-cache of the request asks the server, as Pragma where there is no Cache-Control")
    func requestNoCache() {
        let asked = HTTPCacheDecision.validate(tag, because: .requestNoCache)
        #expect(policy.decide(["Cache-Control": "no-cache"], with: minute(), at: 0) == asked)
        #expect(policy.decide(["Pragma": "no-cache"], with: minute(), at: 0) == asked)
        let both: HTTPFields = ["Pragma": "no-cache", "Cache-Control": "x"]
        #expect(policy.decide(both, with: minute(), at: 0) == .use)
    }

    @Test("no-cache of the response asks the server, unless it is limited to fields")
    func responseNoCache() {
        #expect(
            policy.decide(with: minute(", no-cache"), at: 0)
                == .validate(tag, because: .responseNoCache))
        #expect(policy.decide(with: minute(", no-cache=\"x\""), at: 0) == .use)
        let pragma = StoredResponse.at(noon: ["Pragma": "no-cache", "ETag": "\"a\""])
        #expect(policy.decide(with: pragma, at: 0) == .validate(tag, because: .responseNoCache))
    }

    @Test("When the server is always asked, it is not for a fresh immutable response")
    func always() {
        let policy = HTTPCachePolicy.testing { $0.validation = .always }
        let asked = HTTPCacheDecision.validate(tag, because: .validationAlways)
        #expect(policy.decide(with: minute(), at: 0) == asked)
        #expect(policy.decide(with: minute(", immutable"), at: 59) == .use)
        #expect(policy.decide(with: minute(", immutable"), at: 60) == asked)
        #expect(
            policy.fields(toSend: .get(), after: asked)
                == ["Cache-Control": "max-age=0", "If-None-Match": "\"a\""])
        #expect(
            policy.fields(toSend: .get(["cache-control": "x"]), after: asked)
                == ["cache-control": "x", "If-None-Match": "\"a\""])
    }

    @Test("max-age and min-fresh of the request narrow what is fresh")
    func narrowed() {
        func decide(_ wish: String, at age: TimeInterval) -> HTTPCacheDecision {
            policy.decide(["Cache-Control": wish], with: minute(), at: age)
        }
        #expect(decide("max-age=30", at: 30) == .use)
        #expect(decide("max-age=30", at: 31) == .validate(tag, because: .requestMaxAge))
        #expect(decide("min-fresh=30", at: 30) == .use)
        #expect(decide("min-fresh=30", at: 31) == .validate(tag, because: .requestMinFresh))
        #expect(decide("max-age=30, max-stale", at: 31) == .validate(tag, because: .requestMaxAge))
    }

    @Test("max-stale accepts a stale response, unless it forbids that")
    func maxStale() {
        let stale = HTTPCacheDecision.useStale(revalidate: false)
        let wish: HTTPFields = ["Cache-Control": "max-stale=10"]
        #expect(policy.decide(wish, with: minute(), at: 70) == stale)
        #expect(policy.decide(wish, with: minute(), at: 71) == .validate(tag, because: .stale))
        #expect(
            policy.decide(wish, with: minute(", must-revalidate"), at: 61)
                == .validate(tag, because: .stale))
        #expect(
            policy.decide(["Cache-Control": "max-age=5, max-stale"], with: minute(), at: 99)
                == stale)
    }

    @Test("An invalidated response and one from the future are validated first")
    func invalidated() {
        var stored = minute(", stale-while-revalidate=99")
        #expect(policy.decide(with: stored, at: -1) == .validate(tag, because: .clockSetBack))
        stored.isInvalidated = true
        #expect(policy.decide(with: stored, at: 0) == .validate(tag, because: .invalidated))
        #expect(
            policy.decide(["Cache-Control": "max-stale"], with: stored, at: 0)
                == .validate(tag, because: .invalidated))
    }

    @Test("stale-while-revalidate allows stale use for its time after the lifetime")
    func staleWhileRevalidate() {
        let stale = HTTPCacheDecision.useStale(revalidate: true)
        let asked = HTTPCacheDecision.validate(tag, because: .stale)
        let stored = minute(", stale-while-revalidate=10")
        #expect(policy.decide(with: stored, at: 69) == stale)
        #expect(policy.decide(with: stored, at: 70) == asked)
        #expect(
            policy.decide(["Cache-Control": "max-age=99"], with: stored, at: 61) == asked,
            "a request that limits the age wants no stale response")
        let forbidden = minute(", stale-while-revalidate=10, must-revalidate")
        #expect(policy.decide(with: forbidden, at: 61) == asked)

        let never = HTTPCachePolicy.testing { $0.staleWhileRevalidate = .never }
        #expect(never.decide(with: stored, at: 61) == asked)
        let upTo = HTTPCachePolicy.testing { $0.staleWhileRevalidate = .upTo(20) }
        #expect(upTo.decide(with: minute(), at: 79) == stale)
        #expect(upTo.decide(with: minute(), at: 80) == asked)
        #expect(upTo.decide(with: minute(", must-revalidate"), at: 61) == asked)
    }

    @Test("When shared, s-maxage forbids stale use but for that which the response itself permits")
    func sharedStale() {
        let asked = HTTPCacheDecision.validate(tag, because: .stale)
        let shared = HTTPCachePolicy.testing(.shared) { $0.staleWhileRevalidate = .upTo(99) }
        let sharedAge = StoredResponse.cacheControl("s-maxage=60", ["ETag": "\"a\""])
        #expect(shared.decide(with: sharedAge, at: 61) == asked)
        #expect(shared.decide(["Cache-Control": "max-stale"], with: sharedAge, at: 61) == asked)
        let permitting = StoredResponse.cacheControl(
            "s-maxage=60, stale-while-revalidate=9", ["ETag": "\"a\""])
        #expect(shared.decide(with: permitting, at: 61) == .useStale(revalidate: true))
        let proxy = minute(", proxy-revalidate, stale-while-revalidate=9")
        #expect(shared.decide(with: proxy, at: 61) == asked)
        #expect(policy.decide(with: proxy, at: 61) == .useStale(revalidate: true))
    }

    @Test("only-if-cached sends nothing")
    func onlyIfCached() {
        let wish: HTTPFields = ["Cache-Control": "only-if-cached"]
        #expect(policy.decide(wish, with: minute(), at: 0) == .use)
        #expect(policy.decide(wish, with: minute(), at: 60) == .unsatisfiable(because: .stale))
        #expect(policy.decide(wish, with: nil, at: 0) == .unsatisfiable(because: .nothingStored))
        let offline: HTTPFields = ["Cache-Control": "only-if-cached, max-stale"]
        #expect(policy.decide(offline, with: minute(), at: 1e6) == .useStale(revalidate: false))
        let while10 = minute(", stale-while-revalidate=10")
        #expect(policy.decide(wish, with: while10, at: 69) == .useStale(revalidate: false))
    }

    @Test("The condition is the ETag byte for byte, whatever its syntax, else Last-Modified")
    func conditions() {
        func line(_ fields: HTTPFields) -> HTTPFields.Line? {
            StoredResponse.at(noon: fields).condition?.line
        }
        let date = HTTPDateText.rfc850(noon)
        #expect(
            line(["ETag": "W/\"a\"", "ETag": "\"b\"", "Last-Modified": date])
                == .init(name: "If-None-Match", value: "W/\"a\""))
        #expect(line(["ETag": "abc"]) == .init(name: "If-None-Match", value: "abc"))
        #expect(line(["Last-Modified": date]) == .init(name: "If-Modified-Since", value: date))
        #expect(line(["Last-Modified": "x"]) == nil)
        #expect(line(["Last-Modified": date, "Last-Modified": date]) == nil)
    }

    @Test("A tag that cannot have arrived as it was sent is none")
    func unusableTags() {
        let long = String(repeating: "x", count: 8193)
        for tag in ["\"a\u{FFFD}\"", "", "*", long, "a\r\nX: y", "\0"] {
            #expect(StoredResponse.at(noon: ["ETag": tag]).condition == nil)
        }
    }

    @Test("Until it is stale a response can be used without a decision, unless one is needed")
    func withoutDecision() {
        #expect(policy.usableWithoutDecision(minute()) == noon.addingTimeInterval(60))
        #expect(policy.usableWithoutDecision(minute(", no-cache")) == nil)
        var varying = minute()
        varying.vary = ["x"]
        #expect(policy.usableWithoutDecision(varying) == nil)
        #expect(policy.usableWithoutDecision(.at(noon: [:], isInvalidated: true)) == nil)
        let always = HTTPCachePolicy.testing { $0.validation = .always }
        #expect(always.usableWithoutDecision(minute()) == nil)
        #expect(always.usableWithoutDecision(minute(", immutable")) != nil)
    }
}
