import Foundation
import HalcyonHTTP
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// The clock of the machine is set back: nothing is good for longer than it should be.
@Suite struct ClockTests {
    private let received = Date(timeIntervalSince1970: 1_700_000_000)
    private let url = URL(string: "http://example.com/a.png")!

    private func stored(_ fields: HTTPFields = [:]) -> StoredResponse {
        StoredResponse(
            url: url, status: 200, fields: fields, requested: received, received: received)
    }

    private func rules(passingOn: Bool = false) -> SourceCachingRules {
        var configuration = ImageServerConfiguration()
        configuration.http.passesCacheControl = passingOn
        return SourceCachingRules(configuration)
    }

    @Test(arguments: [-1, -60, -3600, -86_400, -1e9])
    func aSourceOfTheFutureIsAskedForAgain(by seconds: TimeInterval) {
        let now = received.addingTimeInterval(seconds)
        for (rules, stored) in [
            (rules(), stored(["ETag": "\"1\""])),
            (
                rules(passingOn: true),
                stored(["Cache-Control": "max-age=1000000", "ETag": "\"1\""])
            ),
        ] {
            guard case .validate = rules.decision(on: stored, for: url, at: now) else {
                Issue.record("\(rules.decision(on: stored, for: url, at: now))")
                continue
            }
            #expect(rules.secondsLeft(stored, at: now) == 0)
        }
    }

    @Test func aSourceIsGoodFromWhenItCameUntilItsEnd() {
        let rules = rules()
        for (seconds, isGood) in [(0.0, true), (3599, true), (3600, false)] {
            let now = received.addingTimeInterval(seconds)
            let decision = rules.decision(on: stored(), for: url, at: now)
            #expect((decision == .use) == isGood, "\(seconds): \(decision)")
            #expect(rules.secondsLeft(stored(), at: now) == Int(3600 - seconds))
        }
    }

    @Test func anOriginIsLeftAloneForNoLongerThanTheMost() {
        let pauses = OriginPauses()
        pauses.note(status: 429, fields: ["Retry-After": "200"], from: url, at: received)
        #expect(pauses.end(for: url, at: received) == received.addingTimeInterval(200))
        #expect(pauses.end(for: url, at: received.addingTimeInterval(201)) == nil)
        #expect(pauses.end(for: url, at: received.addingTimeInterval(-86_400)) == nil)
        // And it can be learnt of anew.
        let back = received.addingTimeInterval(-86_400)
        pauses.note(status: 429, fields: ["Retry-After": "100"], from: url, at: back)
        #expect(pauses.end(for: url, at: back) == back.addingTimeInterval(100))
    }
}
