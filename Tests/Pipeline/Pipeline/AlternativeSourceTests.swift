import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Loading other sources when one fails.
@Suite struct AlternativeSourceTests {
    private let fixture: ManagerFixture
    private var missing: URL { fixture.origin.url("/missing.png") }

    init() async throws {
        fixture = try await ManagerFixture()
    }

    private func retrieve(
        _ source: Source, _ alternatives: [Source], updates: Recorder<DownloadTask?> = Recorder()
    ) async -> Result<RetrieveImageResult, KingfisherError> {
        await handedOver { hand in
            fixture.manager.retrieveImage(
                with: source,
                options: [.alternativeSources(alternatives), .callbackQueue(.untouch)],
                downloadTaskUpdated: { updates.record($0) }
            ) { hand($0) }
        }
    }

    /// Upstream: testRetrievingWithAlternativeSource
    @Test func theResultNamesBothSources() async throws {
        let result = try await retrieve(.network(missing), [.network(fixture.url)]).get()
        #expect(result.source == .network(fixture.url))
        #expect(result.originalSource == .network(missing))
        #expect(result.cacheType == .none)
        #expect(fixture.cache.isCached(forKey: fixture.url.cacheKey))
        #expect(!fixture.cache.isCached(forKey: missing.cacheKey))
    }

    /// Upstream: testRetrievingErrorsWithAlternativeSource
    @Test func theErrorsOfAllAreToldInOrder() async {
        let urls = (0..<3).map { fixture.origin.url("/missing-\($0).png") }
        let result = await retrieve(
            .network(urls[0]), [.network(urls[1]), .network(urls[2])])
        guard
            case .failure(.imageSettingError(reason: .alternativeSourcesExhausted(let errors))) =
                result
        else {
            Issue.record("expected alternativeSourcesExhausted")
            return
        }
        #expect(errors.map(\.source) == urls.map { .network($0) })
        #expect(errors.allSatisfy { $0.error.isInvalidResponseStatusCode(404) })
        #expect(result.errorCode == 5004)
    }

    /// Upstream: testRetrievingAlternativeSourceTaskUpdateBlockCalled
    @Test func theUpdateBlockIsCalledOnceWithTheTaskOfTheAlternative() async throws {
        let updates = Recorder<DownloadTask?>()
        _ = try await retrieve(
            .network(missing), [.network(fixture.url)], updates: updates
        ).get()
        #expect(updates.count == 1)
        #expect(updates.events[0]?.sessionTask?.originalURL == fixture.url)
    }

    @Test func theUpdateBlockIsToldOfACachedAlternative() async throws {
        _ = try await fixture.retrieve()
        let updates = Recorder<DownloadTask?>()
        let result = try await retrieve(
            .network(missing), [.network(fixture.url)], updates: updates
        ).get()
        #expect(result.cacheType == .memory)
        #expect(updates.count == 1)
        #expect(updates.events[0] == nil)
    }

    /// Upstream: testRetrievingAlternativeSourceTaskUpdateBlockCalledBeforeCompletion
    @Test func theUpdateBlockIsCalledBeforeTheCompletion() async throws {
        let events = Recorder<String>()
        let alternative = Source.provider(
            RawImageDataProvider(data: fixture.png, cacheKey: "raw"))
        let sources = [alternative, .network(fixture.url)]
        for source in sources {
            events.removeAll()
            fixture.manager.retrieveImage(
                with: .network(missing),
                options: [.alternativeSources([source]), .callbackQueue(.untouch)],
                downloadTaskUpdated: { events.record($0 == nil ? "none" : "task") }
            ) { events.record((try? $0.get()) == nil ? "failure" : "success") }
            #expect(await events.waitFor(count: 2) == ["task", "success"])
        }
    }

    /// Upstream: testRetrievingAlternativeSourceCancelled
    @Test func cancellingTheFirstTriesNoAlternative() async throws {
        let gate = Gate()
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(gate))))
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: fixture.origin.url("/slow.png"),
            options: [.alternativeSources([.network(fixture.url)]), .callbackQueue(.untouch)],
            downloadTaskUpdated: { _ in Issue.record("nothing may replace the task") }
        ) { results.record($0) }
        task?.cancel()
        let result = await results.waitFor(count: 1)[0]
        gate.open()
        #expect(result.errorCode == 1003)
        #expect(fixture.origin.requestCount(for: "/photo.png") == 0)
    }

    /// Upstream: testRetrievingAlternativeSourceCanCancelUpdatedTask
    @Test func cancellingTheAlternativeEndsTheRequestOnce() async throws {
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let gate = Gate()
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(gate))))
        fixture.manager.retrieveImage(
            with: .network(missing),
            options: [
                .alternativeSources([
                    .network(fixture.origin.url("/slow.png")), .network(fixture.url),
                ]), .callbackQueue(.untouch),
            ],
            downloadTaskUpdated: { $0?.cancel() }
        ) { results.record($0) }
        let result = await results.waitFor(count: 1)[0]
        gate.open()
        #expect(result.errorCode == 1003)
        _ = try await fixture.retrieve()
        #expect(results.count == 1)
        #expect(fixture.origin.requestCount(for: "/photo.png") == 1, "only that of this test")
    }

    /// Defect: D-15
    @Test func aCancelledProviderTriesNoAlternative() async throws {
        let gate = Gate()
        let strategy = ScriptedRetryStrategy([.retry(userInfo: nil)])
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let task = fixture.manager.retrieveImage(
            with: .provider(StubbornProvider(gate: gate, bytes: fixture.png)),
            options: [
                .alternativeSources([.network(fixture.url)]), .retryStrategy(strategy),
                .callbackQueue(.untouch),
            ]
        ) { results.record($0) }
        await gate.waitForWaiters(1)
        task?.cancel()
        #expect(await results.waitFor(count: 1)[0].errorCode == 1006)
        gate.open()
        #expect(strategy.calls.count == 0)
        #expect(fixture.origin.requestCount == 0)
    }
}
