import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Requests that have begun before a download ended, and ask after that.
@Suite struct LatecomerTests {
    @Test(
        arguments: [
            (.on, "no-store", [:], false), (.shared, "private, max-age=60", [:], false),
            (.shared, "max-age=60", ["Authorization": "Bearer a"], false),
            (.shared, "public, max-age=60", ["Authorization": "Bearer a"], true),
            (.on, "private, max-age=60", [:], true),
        ] as [(HTTPCaching, String, [String: String], Bool)])
    func anAnswerThatIsNotForOthersIsNotGivenToWhoAsksLater(
        _ caching: HTTPCaching, _ words: String, _ fields: [String: String], _ isForOthers: Bool
    ) async throws {
        let fixture = try await FreshnessFixture(caching)
        fixture.serve(3, words)
        let gate = Gate()
        // Neither is found in the cache, so that only the download itself could be shared.
        let options: KingfisherOptionsInfo = [
            .memoryCacheExpiration(.expired), .diskCacheExpiration(.expired),
        ]
        func got(_ gate: Gate?) async throws -> String {
            try await fixture.got(
                options + [.requestModifier(HeldModifier(gate: gate, fields: fields))])
        }
        async let late = got(gate)
        await gate.waitForWaiters(1)
        #expect(try await got(nil).hasPrefix("3 fetched"))
        gate.open()
        #expect(try await late.hasPrefix("3 fetched"))
        #expect(fixture.count == (isForOthers ? 1 : 2))
    }
}
