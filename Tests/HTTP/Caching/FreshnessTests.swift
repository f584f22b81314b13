import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

@Suite("Freshness") struct FreshnessTests {
    private let policy = HTTPCachePolicy.testing()

    private func lifetime(
        _ fields: HTTPFields, status: Int = 200, _ policy: HTTPCachePolicy? = nil
    ) -> TimeInterval {
        (policy ?? self.policy).freshness(of: .at(noon: fields, status: status)).lifetime
    }

    private func date(_ seconds: TimeInterval) -> String {
        HTTPDateText.fixed(noon.addingTimeInterval(seconds))
    }

    @Test("The age counts what Age says, the way here and the difference to Date") func age() {
        var stored = StoredResponse.cacheControl("max-age=60", ["Age": "10"])
        stored.requested = noon.addingTimeInterval(-3)
        #expect(policy.freshness(of: stored).initialAge == 13)
        stored.fields.set("Date", to: date(-30))
        #expect(policy.freshness(of: stored).initialAge == 30)
        stored.fields.set("Date", to: date(30))
        #expect(policy.freshness(of: stored).initialAge == 13, "a server's clock that is ahead")
        #expect(policy.freshness(of: stored).age(at: noon.addingTimeInterval(5)) == 18)
        stored.fields.set("Date", to: date(-1e9))
        #expect(policy.freshness(of: stored).initialAge == 1e9)
    }

    @Test(
        "Of Age only the first number counts",
        arguments: [("7, 0", 7), ("0, 7", 0), ("x", 0), ("-7", 0), ("7.0", 0), ("7;a", 0), ("", 0)])
    func ages(text: String, seconds: TimeInterval) {
        #expect(
            policy.freshness(of: .cacheControl("max-age=9", ["Age": text, "Age": "3"])).initialAge
                == seconds)
    }

    @Test("A response from the future is stale, and its age is that of its receipt")
    func clockSetBack() {
        let freshness = policy.freshness(of: .cacheControl("max-age=60", ["Age": "7"]))
        #expect(!freshness.isFresh(at: noon.addingTimeInterval(-1)))
        #expect(freshness.age(at: noon.addingTimeInterval(-1)) == 7)
    }

    @Test("s-maxage is for shared caches, and there comes first") func sharedMaxAge() {
        let fields: HTTPFields = ["Cache-Control": "s-maxage=10, max-age=20"]
        #expect(lifetime(fields) == 20 && lifetime(fields, .testing(.shared)) == 10)
    }

    @Test("max-age comes before Expires, even where it makes no sense") func maxAgeBeforeExpires() {
        #expect(lifetime(["Cache-Control": "max-age=20", "Expires": date(99)]) == 20)
        #expect(lifetime(["Cache-Control": "max-age=x", "Expires": date(99)]) == 0)
        #expect(lifetime(["Cache-Control": "max-age=x", "Last-Modified": date(-999)]) == 0)
    }

    @Test("Expires is compared with Date, else with the time of receipt") func expires() {
        #expect(lifetime(["Expires": date(99)]) == 99)
        #expect(lifetime(["Expires": date(99), "Date": date(90)]) == 9)
        #expect(lifetime(["Expires": date(99), "Date": "x"]) == 99)
        #expect(lifetime(["Expires": date(-99), "Last-Modified": date(-999)]) == 0)
        #expect(lifetime(["Expires": "0", "Last-Modified": date(-999)]) == 0)
        #expect(lifetime(["Expires": date(99), "Expires": date(99)]) == 0)
    }

    @Test("Without a word a tenth of the time since the last change is guessed, up to a week")
    func heuristic() {
        #expect(lifetime(["Last-Modified": date(-1000)]) == 100)
        #expect(lifetime(["Last-Modified": date(-1000), "Date": date(-500)]) == 50)
        #expect(lifetime(["Last-Modified": date(-1e8)]) == 7 * 86_400)
        #expect(lifetime(["Last-Modified": date(-1e8)], .testing(.shared)) == 86_400)
        #expect(lifetime(["Last-Modified": date(1)]) == 0)
        #expect(lifetime(["Last-Modified": date(-9), "Last-Modified": date(-9)]) == 0)
        #expect(
            lifetime(["Last-Modified": date(-1000)], .testing { $0.heuristicFraction = 0 }) == 0)
    }

    @Test("Nothing is guessed for a status that is not cacheable by itself, unless it is public")
    func heuristicStatus() {
        let modified = date(-1000)
        #expect(lifetime(["Last-Modified": modified], status: 302) == 0)
        #expect(lifetime(["Last-Modified": modified], status: 404) == 100)
        #expect(
            lifetime(["Last-Modified": modified, "Cache-Control": "public"], status: 302) == 100)
    }

    @Test("The fallback is for a 200 that says nothing at all") func fallback() {
        let policy = HTTPCachePolicy.testing { $0.fallbackLifetime = 30 }
        #expect(lifetime([:], policy) == 30 && lifetime([:], status: 404, policy) == 0)
        for field in ["Cache-Control", "Expires", "Last-Modified", "ETag"] {
            #expect(lifetime([field: "x"], policy) == 0)
        }
    }

    @Test("A fixed lifetime takes the place of all that a response says") func fixed() {
        let policy = HTTPCachePolicy.testing(.shared) { $0.fixedLifetime = 3600 }
        #expect(lifetime(["Cache-Control": "no-store, max-age=1"], policy) == 3600)
        let stored = policy.storing(["Cache-Control": "no-store, private", "ETag": "\"a\""]).stored
        #expect(stored != nil)
        #expect(policy.decide(with: stored, at: 3599) == .use)
        #expect(
            policy.decide(with: stored, at: 3600)
                == .validate(.entityTag(EntityTag("\"a\"")), because: .stale))
    }

    @Test("The first targeted field that makes sense takes the place of the others when shared")
    func targeted() {
        let names = ["Halcyon-Cache-Control", "CDN-Cache-Control"]
        let shared = HTTPCachePolicy.testing(.shared) { $0.targetedFields = names }
        let fields: HTTPFields = [
            "Cache-Control": "no-store", "CDN-Cache-Control": "max-age=5", "Expires": date(99),
            "Halcyon-Cache-Control": "&",
        ]
        #expect(lifetime(fields, shared) == 5)
        #expect(shared.storing(fields).stored != nil)
        #expect(HTTPCachePolicy.testing { $0.targetedFields = names }.storing(fields).stored == nil)
    }

    @Test("Settings out of their range are brought into it") func clamping() {
        let caching = HTTPCachePolicy.testing {
            $0.heuristicFraction = 7
            $0.heuristicLimit = -.infinity
            $0.fallbackLifetime = .nan
            $0.fixedLifetime = -1
            $0.staleIfError = .upTo(-1)
            $0.negative = .on(statuses: [404], lifetime: -1, limit: .infinity)
        }.caching
        #expect(caching.heuristicFraction == 1 && caching.heuristicLimit == 0)
        #expect(caching.fallbackLifetime == 0 && caching.fixedLifetime == 0)
        #expect(caching.staleIfError == .upTo(0))
        #expect(caching.negative == .on(statuses: [404], lifetime: 0, limit: 0))
    }
}

@Suite("Dates of HTTP") struct HTTPDateParserTests {
    private func seconds(_ text: String, now: Date = noon) -> TimeInterval? {
        HTTPDateParser.date(text, now: now)?.timeIntervalSince1970
    }

    @Test(
        "All three forms name the same second, with names in any case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "sUN, 06 nOV 1994 08:49:37 gmt",
            "Mon, 06 Nov 1994 08:49:37 GMT",
        ])
    func forms(text: String) { #expect(seconds(text) == 784_111_777) }

    @Test(
        "Everything else is no date",
        arguments: [
            "", "0", "-1", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun,  06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMTx", "Sun, 06 Nov 1994 08:49:37 GMT 1",
            "Sun, 0٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        ])
    func others(text: String) { #expect(seconds(text) == nil) }

    @Test("Every day from 1600 to 2400 is read as it is written") func calendar() throws {
        for day in stride(from: -135_140, through: 157_054, by: 37) {
            let date = Date(timeIntervalSince1970: TimeInterval(day * 86_400 + abs(day) % 86_400))
            #expect(HTTPDateParser.date(HTTPDateText.fixed(date), now: noon) == date)
            #expect(HTTPDateParser.date(HTTPDateText.asctime(date), now: noon) == date)
        }
    }

    @Test("What is written is the first of the forms") func writing() {
        for seconds in [784_111_777, -784_111_777.5, 0, 4_102_444_800.9] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(HTTPDate.text(date) == HTTPDateText.fixed(date))
        }
        let example = Date(timeIntervalSince1970: 784_111_777)
        #expect(HTTPDate.text(example) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("A year of two digits is at most 50 years ahead") func centuries() {
        func year(_ text: String, now: Date = noon) -> Int? {
            HTTPDateParser.date(text, now: now)
                .map { Calendar(identifier: .gregorian).component(.year, from: $0) }
        }
        #expect(year("Sunday, 06-Jun-26 08:49:37 GMT") == 2026)
        #expect(year("Sunday, 06-Jun-76 08:49:37 GMT") == 2076)
        #expect(year("Sunday, 06-Dec-76 08:49:37 GMT") == 1976)
        #expect(year("Sunday, 06-Jun-77 08:49:37 GMT") == 1977)
        #expect(year("Tuesday, 29-Feb-00 08:49:37 GMT") == 2000)
    }

    @Test(
        "A clock without sense is no trap",
        arguments: [.nan, .infinity, -.infinity, 1e300, -1e300, 0] as [TimeInterval])
    func clocks(seconds: TimeInterval) {
        _ = HTTPDateParser.date(
            "Sunday, 06-Nov-94 08:49:37 GMT", now: Date(timeIntervalSince1970: seconds))
    }

    @Test("A leap second counts as the one before it") func leapSecond() {
        #expect(
            seconds("Sun, 06 Nov 1994 08:49:60 GMT") == seconds("Sun, 06 Nov 1994 08:49:59 GMT"))
    }
}
