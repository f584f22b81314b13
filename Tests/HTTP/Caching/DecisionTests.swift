import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

@Suite("Using stored responses") struct DecisionTests {
    private let policy = HTTPCachePolicy.testing()
    private let tag = ValidationCondition.entityTag(EntityTag("\"a\""))

    /// A response with a lifetime of 60 s, and more directives.
    private func minute(_ more: String = "") -> StoredResponse {
        .cacheControl("max-age=60" + more, ["ETag": "\"a\""])
    }

    @Test("A fresh response is used, a stale one validated") func freshOrStale() {
        #expect(policy.decide(with: minute(), at: 59.9) == .use)
        #expect(policy.decide(with: minute(), at: 60) == .validate(tag, because: .stale))
        #expect(
            policy.decide(with: .cacheControl("max-age=60"), at: 60) == .fetch(because: .stale),
            "without a validator")
        #expect(policy.decide(with: nil, at: 0) == .fetch(because: .nothingStored))
    }

    @Test("Requests of other methods are sent as they are") func method() {
        let request = HTTPCacheRequest(method: "HEAD", url: minute().url)
        let selection = policy.select(request, among: [minute()])
        #expect(policy.decide(request, with: selection, now: noon) == .fetch(because: .method))
    }

    @Test("A request with no-store is sent as it is") func requestNoStore() {
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

    @Test("max-age and min-fresh of the request narrow what is fresh") func narrowed() {
        func decide(_ wish: String, at age: TimeInterval) -> HTTPCacheDecision {
            policy.decide(["Cache-Control": wish], with: minute(), at: age)
        }
        #expect(decide("max-age=30", at: 30) == .use)
        #expect(decide("max-age=30", at: 31) == .validate(tag, because: .requestMaxAge))
        #expect(decide("min-fresh=30", at: 30) == .use)
        #expect(decide("min-fresh=30", at: 31) == .validate(tag, because: .requestMinFresh))
        #expect(decide("max-age=30, max-stale", at: 31) == .validate(tag, because: .requestMaxAge))
    }

    @Test("max-stale accepts a stale response, unless it forbids that") func maxStale() {
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

    @Test("only-if-cached sends nothing") func onlyIfCached() {
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

    @Test("A tag that cannot have arrived as it was sent is none") func unusableTags() {
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

@Suite("Vary") struct SelectionTests {
    private let policy = HTTPCachePolicy.testing()

    /// Whether a response that varies by `name` and answered the one request matches the other.
    private func isSame(_ name: String, _ one: [String], _ other: [String]) -> Bool {
        func request(_ values: [String]) -> HTTPCacheRequest {
            .get(HTTPFields(values.map { .init(name: name, value: $0) }))
        }
        guard let stored = policy.storing(["Vary": name], to: request(one)).stored else {
            return false
        }
        return policy.matches(stored, request(other))
    }

    @Test("Lines may be combined, and spaces around commas do not count") func whitespace() {
        #expect(isSame("X", ["a, b"], ["a", "b"]) && isSame("X", ["a ,\tb,"], ["a,b"]))
        #expect(!isSame("X", ["a, b"], ["b, a"]) && !isSame("X", ["a"], ["A"]))
        #expect(!isSame("X", ["a b"], ["a  b"]))
        #expect(!isSame("X", [], [""]), "absent is not empty")
    }

    @Test(
        "In the fields of negotiation order, case and a quality of 1 do not count",
        arguments: ["Accept", "accept-language", "Accept-Encoding", "Accept-Charset"])
    func negotiation(name: String) {
        #expect(isSame(name, ["DE, en;q=0.5"], ["en; Q = 0.5", "de;q=1.000"]))
        #expect(!isSame(name, ["de"], ["de;q=0.9"]) && !isSame(name, ["de;q=1.0"], ["de;q=1.01"]))
    }

    @Test("Values of different fields cannot be confused") func unambiguous() {
        let stored = policy.storing(["Vary": "A, B"], to: .get(["A": "1", "B": "2"])).stored
        for fields in [["A": "1B2"], ["A": "12"], ["A": "2", "B": "1"]] as [HTTPFields] {
            #expect(stored.map { policy.matches($0, .get(fields)) } == false)
        }
    }

    @Test("Names are taken from all lines, without regard to case, once") func names() {
        #expect(VaryKey.names(in: ["Vary": "B, a", "vary": ",A ,c"]) == ["a", "b", "c"])
    }

    @Test("Nothing of a request's values is kept but their hash") func hashed() {
        let policy = HTTPCachePolicy(.on, digest: { _ in [7] })
        let request = HTTPCacheRequest.get(["Cookie": "secret"])
        let stored = policy.storing(["Vary": "Cookie"], to: request).stored
        #expect(stored?.variant == [7])
        #expect(policy.storing([:], to: request).stored?.variant == [])
    }

    @Test("Of several that match the latest is chosen, by Date and then by receipt") func latest() {
        func response(date: TimeInterval, received: TimeInterval) -> StoredResponse {
            let text = HTTPDateText.fixed(noon.addingTimeInterval(date))
            var response = StoredResponse.at(noon: ["Date": text])
            response.received = noon.addingTimeInterval(received)
            return response
        }
        func chosen(_ responses: StoredResponse...) -> Int? {
            guard case .response(_, let index) = policy.select(.get(), among: responses) else {
                return nil
            }
            return index
        }
        #expect(chosen(response(date: 0, received: 9), response(date: 5, received: 6)) == 1)
        #expect(chosen(response(date: 5, received: 9), response(date: 5, received: 6)) == 0)
    }

    @Test("One without Vary is chosen beside others only when it is the newest")
    func plainBesideVarying() throws {
        let request = HTTPCacheRequest.get(["X": "a"])
        let varying = try #require(policy.storing(["Vary": "X"], to: request).stored)
        var plain = StoredResponse.at(noon: [:])
        #expect(policy.select(.get(["X": "b"]), among: [varying, plain]) == .varyMismatch)
        plain.received = noon.addingTimeInterval(1)
        #expect(
            policy.select(.get(["X": "b"]), among: [varying, plain]) == .response(plain, index: 1))
        #expect(policy.select(request, among: [varying, plain]) == .response(plain, index: 1))
        #expect(policy.select(request, among: []) == .nothingStored)
    }
}
