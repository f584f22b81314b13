import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("Dates of HTTP")
struct HTTPDateParserTests {
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

    @Test("Every day from 1600 to 2400 is read as it is written")
    func calendar() throws {
        for day in stride(from: -135_140, through: 157_054, by: 37) {
            let date = Date(
                timeIntervalSince1970: TimeInterval(day * 86_400 + abs(day) % 86_400))
            #expect(HTTPDateParser.date(HTTPDateText.fixed(date), now: noon) == date)
            #expect(HTTPDateParser.date(HTTPDateText.asctime(date), now: noon) == date)
        }
    }

    @Test("What is written is the first of the forms")
    func writing() {
        for seconds in [784_111_777, -784_111_777.5, 0, 4_102_444_800.9] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(HTTPDate.text(date) == HTTPDateText.fixed(date))
        }
        let example = Date(timeIntervalSince1970: 784_111_777)
        #expect(HTTPDate.text(example) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("A year of two digits is at most 50 years ahead")
    func centuries() {
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

    @Test("A leap second counts as the one before it")
    func leapSecond() {
        #expect(
            seconds("Sun, 06 Nov 1994 08:49:60 GMT") == seconds("Sun, 06 Nov 1994 08:49:59 GMT"))
    }
}
