import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct AlternativeSourceTests {
    private let fixture: ManagerFixture
    private var missing: URL { fixture.origin.url("/missing.png") }

    init() async throws { fixture = try await ManagerFixture() }

    private func retrieve(
        _ source: URL, _ alternatives: [URL], updates: Recorder<DownloadTask?> = Recorder()
    ) async -> SettingResult {
        await fixture.start(
            .network(source), [.alternativeSources(alternatives.map { .network($0) })]
        ) { updates.record($0) }.result()
    }

    /// Upstream: testRetrievingWithAlternativeSource
    @Test func theResultNamesBothSources() async throws {
        let result = try await retrieve(missing, [fixture.url]).get()
        #expect(result.source == .network(fixture.url))
        #expect(result.originalSource == .network(missing) && result.cacheType == .none)
        #expect(fixture.cache.isCached(forKey: fixture.url.cacheKey))
        #expect(!fixture.cache.isCached(forKey: missing.cacheKey))
    }

    /// Upstream: testRetrievingErrorsWithAlternativeSource, testContextRemovingAlternativeSource,
    /// testContextAppendErrorIsThreadSafe, testContextPopAlternativeSourceIsThreadSafe
    @Test func theErrorsOfAllAreToldInOrder() async throws {
        let urls = (0..<3).map { fixture.origin.url("/missing-\($0).png") }
        let result = await retrieve(urls[0], Array(urls.dropFirst()))
        guard
            case .imageSettingError(reason: .alternativeSourcesExhausted(let errors)) = result.error
        else { throw Unexpected(result) }
        #expect(errors.map(\.source) == urls.map { .network($0) })
        #expect(errors.allSatisfy { $0.error.isInvalidResponseStatusCode(404) })
        #expect(result.errorCode == 5004)
    }

    /// Upstream: testRetrievingAlternativeSourceTaskUpdateBlockCalled
    @Test(arguments: [false, true])
    func theUpdateBlockIsCalledOnceWithTheTaskOfTheAlternative(isCached: Bool) async throws {
        if isCached { _ = try await fixture.retrieve() }
        let updates = Recorder<DownloadTask?>()
        let result = try await retrieve(missing, [fixture.url], updates: updates).get()
        #expect(result.cacheType == (isCached ? .memory : .none))
        #expect(updates.count == 1 && (updates.events[0] == nil) == isCached)
        #expect(updates.events[0]?.sessionTask?.originalURL == (isCached ? nil : fixture.url))
    }

    /// Upstream: testRetrievingAlternativeSourceTaskUpdateBlockCalledBeforeCompletion
    @Test func theUpdateBlockIsCalledBeforeTheCompletion() async throws {
        let raw = RawImageDataProvider(data: fixture.png, cacheKey: "raw")
        for source in [Source.provider(raw), .network(fixture.url)] {
            let events = Recorder<String>()
            fixture.manager.retrieveImage(
                with: .network(missing),
                options: [.alternativeSources([source]), .callbackQueue(.untouch)],
                downloadTaskUpdated: { events.record($0 == nil ? "none" : "task") }
            ) { events.record($0.value == nil ? "failure" : "success") }
            #expect(await events.waitFor(count: 2) == ["task", "success"])
        }
    }

    /// Upstream: testRetrievingAlternativeSourceCancelled
    @Test func cancellingTheFirstTriesNoAlternative() async throws {
        let (slow, gate) = fixture.hold()
        let request = fixture.start(
            .network(slow), [.alternativeSources([.network(fixture.url)])]
        ) { _ in Issue.record("nothing may replace the task") }
        request.task?.cancel()
        #expect(await request.result().errorCode == 1003)
        gate.open()
        #expect(fixture.origin.requestCount(for: "/photo.png") == 0)
    }

    /// Upstream: testRetrievingAlternativeSourceCanCancelUpdatedTask
    @Test func cancellingTheAlternativeEndsTheRequestOnce() async throws {
        let (slow, gate) = fixture.hold()
        let request = fixture.start(
            .network(missing), [.alternativeSources([.network(slow), .network(fixture.url)])]
        ) { $0?.cancel() }
        #expect(await request.result().errorCode == 1003)
        gate.open()
        _ = try await fixture.retrieve()
        #expect(request.results.count == 1)
        #expect(fixture.origin.requestCount(for: "/photo.png") == 1, "only that of this test")
    }

    /// Defect: D-15
    @Test func aCancelledProviderTriesNoAlternative() async throws {
        let gate = Gate()
        let strategy = ScriptedRetryStrategy([.retry(userInfo: nil)])
        let request = fixture.start(
            .provider(StubbornProvider(gate: gate, bytes: fixture.png)),
            [.alternativeSources([.network(fixture.url)]), .retryStrategy(strategy)])
        await gate.waitForWaiters(1)
        request.task?.cancel()
        #expect(await request.result().errorCode == 1006)
        gate.open()
        #expect(strategy.calls.count == 0 && fixture.origin.requestCount == 0)
    }
}
