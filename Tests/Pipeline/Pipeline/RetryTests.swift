import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct RetryTests {
    private let fixture: ManagerFixture
    private var broken: URL { fixture.origin.url("/broken.png") }
    private var flaky: URL { fixture.origin.url("/flaky.png") }

    init() async throws { fixture = try await ManagerFixture() }

    private func retrieve(_ url: URL, _ options: KingfisherOptionsInfo) async -> SettingResult {
        await fixture.start(url, options).result()
    }

    /// Upstream: testKingfisherManagerCanRetry
    @Test func theStrategyIsAskedAfterEachFailureWithWhatItSaidLast() async {
        let strategy = ScriptedRetryStrategy([.retry(userInfo: 1), .retry(userInfo: 2), .stop])
        let result = await retrieve(broken, [.retryStrategy(strategy)])
        #expect(result.errorCode == 2002 && strategy.calls.events.map(\.userInfo) == [nil, 1, 2])
        #expect(strategy.calls.events.map(\.retriedCount) == [0, 1, 2])
        #expect(fixture.origin.requestCount(for: "/broken.png") == 3)
    }

    @Test func aRetryThatSucceedsIsASuccess() async throws {
        fixture.origin.route("/flaky.png", sequence: [.status(503), .png(fixture.png)])
        let strategy = ScriptedRetryStrategy([.retry(userInfo: nil)])
        let result = await retrieve(flaky, [.retryStrategy(strategy)])
        #expect(result.width == 64 && strategy.calls.count == 1)
    }

    /// Defect: D-11
    @Test func theContextHasTheErrorOfTheLatestAttempt() async {
        fixture.origin.route("/flaky.png", sequence: [.status(404), .status(500), .status(503)])
        let strategy = ScriptedRetryStrategy([.retry(userInfo: nil), .retry(userInfo: nil)])
        let result = await retrieve(flaky, [.retryStrategy(strategy)])
        #expect(strategy.calls.events.map(\.status) == [404, 500, 503])
        #expect(result.error?.isInvalidResponseStatusCode(503) == true)
    }

    /// Defect: D-11
    @Test func aCancellationDuringALaterAttemptIsNotRetried() async throws {
        let gate = Gate()
        fixture.origin.route(
            "/flaky.png", sequence: [.status(500), .png(fixture.png).with(.wait(.gate(gate)))])
        let strategy = ScriptedRetryStrategy([.retry(userInfo: nil), .retry(userInfo: nil)])
        let request = fixture.start(flaky, [.retryStrategy(strategy)])
        await fixture.origin.waitForRequests(2, path: "/flaky.png")
        request.task?.cancel()
        #expect(await request.result().errorCode == 1003)
        gate.open()
        #expect(strategy.calls.count == 1)
    }

    /// Defect: D-28
    @Test func aRetryDuringAlternativesTriesTheAlternativeAgain() async throws {
        fixture.origin.route("/other.png", sequence: [.status(500), .png(fixture.png)])
        let other = fixture.origin.url("/other.png")
        let strategy = ScriptedRetryStrategy([.stop, .retry(userInfo: nil)])
        let result = try await retrieve(
            broken, [.retryStrategy(strategy), .alternativeSources([.network(other)])]
        ).get()
        #expect(result.source == .network(other) && result.originalSource == .network(broken))
        #expect(fixture.origin.requestCount(for: "/broken.png") == 1)
        #expect(fixture.origin.requestCount(for: "/other.png") == 2)
        #expect(strategy.calls.events.map(\.source) == [.network(broken), .network(broken)])
    }
}
