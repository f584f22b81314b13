import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct ImagePrefetcherTests {
    let fixture: ManagerFixture
    let urls: [URL]

    init() async throws {
        fixture = try await ManagerFixture()
        for index in 0..<4 {
            fixture.origin.route("/\(index).png", .png(fixture.png))
        }
        urls = (0..<4).map { [fixture] in fixture.origin.url("/\($0).png") }
    }

    private var options: KingfisherOptionsInfo {
        [.targetCache(fixture.cache), .downloader(fixture.downloader)]
    }

    /// Cache keys.
    private struct Report: Equatable, Sendable {
        var skipped: [String]
        var failed: [String]
        var completed: [String]

        var count: Int { skipped.count + failed.count + completed.count }

        init(_ skipped: [Source], _ failed: [Source], _ completed: [Source]) {
            self.skipped = skipped.map(\.cacheKey)
            self.failed = failed.map(\.cacheKey)
            self.completed = completed.map(\.cacheKey)
        }
    }

    private struct Run: Sendable {
        let progress: Recorder<Report>
        let completions: Recorder<Report>
        let prefetcher: ImagePrefetcher

        func report() async -> Report { await completions.waitFor(count: 1)[0] }

        func reportAfterStart() async -> Report {
            prefetcher.start()
            return await report()
        }
    }

    private func prefetcher(
        _ sources: [Source], _ more: KingfisherOptionsInfo = []
    ) -> Run {
        let progress = Recorder<Report>()
        let completions = Recorder<Report>()
        let prefetcher = ImagePrefetcher(
            sources: sources, options: options + more,
            progressBlock: { progress.record(Report($0, $1, $2)) },
            completionHandler: { completions.record(Report($0, $1, $2)) })
        return Run(progress: progress, completions: completions, prefetcher: prefetcher)
    }

    private func prefetch(
        _ urls: [URL], _ more: KingfisherOptionsInfo = []
    ) async -> Report {
        await prefetcher(urls.map { $0.convertToSource() }, more).reportAfterStart()
    }

    private func type(_ url: URL, _ processor: String = "") -> CacheType {
        fixture.cache.imageCachedType(forKey: url.cacheKey, processorIdentifier: processor)
    }

    /// Upstream: testPrefetchingImages
    @Test func loadsAndCachesEachImageWithOneProgressForEach() async {
        let progress = Recorder<Int>()
        let lists: [[any Resource]] = await handedOver { hand in
            ImagePrefetcher(
                urls: urls, options: options,
                progressBlock: { skipped, failed, completed in
                    #expect(MainQueue.isCurrent)
                    progress.record(skipped.count + failed.count + completed.count)
                },
                completionHandler: { skipped, failed, completed in
                    #expect(MainQueue.isCurrent)
                    hand([skipped, failed, completed])
                }
            ).start()
        }
        #expect(lists.map(\.count) == [0, 0, 4] && Set(lists[2].map(\.downloadURL)) == Set(urls))
        #expect(progress.events == [1, 2, 3, 4])
        for url in urls { #expect(type(url).cached) }
    }

    /// Upstream: testCancelPrefetching
    @Test func aStopCancelsWhatRunsAndFailsEverything() async {
        for index in 0..<4 { _ = fixture.hold("/\(index).png") }
        let run = prefetcher(urls.map { .network($0) })
        run.prefetcher.maxConcurrentDownloads = 2
        run.prefetcher.start()
        await fixture.origin.waitForRequests(2)
        run.prefetcher.stop()
        run.prefetcher.stop()
        let report = await run.report()
        #expect(report.failed.count == 4 && report.count == 4)
        #expect(fixture.origin.requestCount == 2 && run.completions.count == 1)
        #expect(run.prefetcher.failures.map(\.source.cacheKey) == report.failed)
        let codes = run.prefetcher.failures.map(\.error.errorCode)
        #expect(codes.sorted() == [1003, 1003, 1005, 1005], "all were cancelled")
        #expect(run.prefetcher.failures.allSatisfy { $0.error.isCancelled })
    }

    /// Upstream: testPrefetcherCouldSkipCachedImages, testPrefetcherForceRefreshDownloadImages
    @Test(arguments: [false, true])
    func skipsWhatIsCachedUnlessItRefreshes(isRefreshing: Bool) async throws {
        try await fixture.cache.store(testImage(), forKey: urls[1].cacheKey)
        let report = await prefetch(urls, isRefreshing ? [.forceRefresh] : [])
        let skipped: [String] = isRefreshing ? [] : [urls[1].cacheKey]
        #expect(report.skipped == skipped && report.completed.count == 4 - skipped.count)
        #expect(fixture.origin.requestCount == 4 - skipped.count)
    }

    /// Upstream: testFetchWithProcessor
    @Test func aSecondRunWithTheSameProcessorSkipsEverything() async {
        let processor = RoundCornerImageProcessor(cornerRadius: 20)
        let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
        #expect(await prefetch(urls, options).completed.count == 4)
        #expect(await prefetch(urls, options).skipped.count == 4)
        #expect(fixture.origin.requestCount == 4)
        for url in urls { #expect(type(url, processor.identifier).cached) }
    }

    /// Upstream: testAlsoPrefetchToMemory, testNotPrefetchToMemory
    @Test(
        arguments: [([.alsoPrefetchToMemory], .memory), ([], .disk)]
            as [(KingfisherOptionsInfo, CacheType)])
    func anImageOnDiskIsReadIntoMemoryWhenAskedFor(
        options: KingfisherOptionsInfo, type: CacheType
    ) async throws {
        try await fixture.cache.store(testImage(), forKey: urls[0].cacheKey)
        fixture.cache.clearMemoryCache()
        let report = await prefetch([urls[0]], options)
        #expect(report.skipped == [urls[0].cacheKey] && self.type(urls[0]) == type)
        #expect(fixture.origin.requestCount == 0)
    }

    /// Upstream: testPrefetchMoreTaskThanMaxConcurrency
    @Test func loadsEverythingOneAtATime() async {
        let run = prefetcher(urls.map { .network($0) })
        run.prefetcher.maxConcurrentDownloads = 1
        #expect(await run.reportAfterStart().completed == urls.map(\.cacheKey))
        #expect(fixture.origin.peakConcurrentRequests == 1)
    }

    /// Upstream: testPrefetchMultiTimes
    @Test func tenThousandPrefetchersAtOnceComplete() async {
        let ends = Recorder<Int>()
        for index in 0..<10_000 {
            ImagePrefetcher(urls: [urls[index % urls.count]], options: options) {
                ends.record($1.isEmpty ? $0.count + $2.count : 0)
            }.start()
        }
        #expect(await ends.waitFor(count: 10_000).allSatisfy { $0 == 1 })
        for url in urls { #expect(type(url).cached) }
    }

    /// Upstream: testPrefetchSources
    @Test func sourcesOfBothKindsAreLoadedOneProgressEach() async throws {
        let file = try fixture.folder.write(fixture.png, to: "photo.png")
        let sources: [Source] = [
            .provider(LocalFileImageDataProvider(fileURL: file)), .network(urls[0]),
            .provider(RawImageDataProvider(data: fixture.png, cacheKey: "raw")), .network(urls[1]),
        ]
        let run = prefetcher(sources)
        #expect(await Set(run.reportAfterStart().completed) == Set(sources.map(\.cacheKey)))
        #expect(run.progress.events.map(\.completed.count) == [1, 2, 3, 4])
    }

    /// Upstream: testImagePrefetcherCanRetry, testImagePrefetcherRetryStrategyStopDoesNotRetry
    @Test(arguments: [3, 0])
    func asksTheRetryStrategyForEachSourceAndReportsOnce(retries: Int) async {
        let strategy = ScriptedRetryStrategy((0..<retries).map { .retry(userInfo: $0 + 1) })
        let missing = fixture.origin.url("/missing.png")
        let run = prefetcher([.network(missing)], [.retryStrategy(strategy)])
        let report = await run.reportAfterStart()
        #expect(report.failed == [missing.cacheKey] && run.progress.events == [report])
        #expect(strategy.calls.events.map(\.retriedCount) == Array(0...retries))
        let answers: [Int?] = (0...retries).map { $0 == 0 ? nil : $0 }
        #expect(strategy.calls.events.map(\.userInfo) == answers)
        #expect(fixture.origin.requestCount == retries + 1)
    }

    /// Defect: D-18
    @Test func theProbeHonoursAForcedExtension() async {
        let forced: KingfisherOptionsInfo = [.forcedCacheFileExtension("png")]
        #expect(await prefetch([urls[0]], forced).completed.count == 1)
        let key = urls[0].cacheKey
        #expect(fixture.cache.imageCachedType(forKey: key, forcedExtension: "png") == .disk)
        #expect(await prefetch([urls[0]], forced).skipped.count == 1)
        // Without it the file has another name.
        #expect(await prefetch([urls[0]]).completed.count == 1)
    }

    /// Defect: D-18
    @Test func equalSourcesAreCountedEachAndLoadedOnce() async {
        let gate = fixture.hold("/0.png").gate
        let run = prefetcher([.network(urls[0]), .network(urls[0]), .network(urls[0])])
        run.prefetcher.start()
        await fixture.origin.waitForRequests(1)
        gate.open()
        let report = await run.report()
        #expect(report.count == 3 && report.failed.isEmpty && fixture.origin.requestCount == 1)
    }

    @Test func resourcesOfFilesAreLoadedButNotTold() async throws {
        let file = try fixture.folder.write(fixture.png, to: "photo.png")
        let completions = Recorder<[any Resource]>()
        ImagePrefetcher(
            resources: [file, urls[0]], options: options,
            completionHandler: { completions.record($2) }
        ).start()
        let told = await completions.waitFor(count: 1)[0]
        #expect(told.map(\.downloadURL) == [urls[0]] && type(file).cached)
    }

    @Test func aSourceWhoseOriginalIsCachedIsMadeOfIt() async throws {
        #expect(await prefetch([urls[0]]).completed.count == 1)
        let processor = CountingProcessor()
        let report = await prefetch([urls[0]], [.processor(processor), .waitForCache])
        #expect(report.completed.count == 1 && processor.runs.value == 1)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func keepsABrokenFileOnDiskWithoutDecodingIt() async throws {
        // The header is whole, the pixels are not: only decoding could tell.
        let broken = fixture.png.prefix(fixture.png.count / 2)
        fixture.origin.route("/0.png", .png(Data(broken)))
        #expect(await prefetch([urls[0]]).completed.count == 1)
        let path = fixture.cache.cachePath(forKey: urls[0].cacheKey)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(broken))
        #expect(type(urls[0]) == .disk)

        let inMemory = await prefetch([urls[0]], [.alsoPrefetchToMemory, .forceRefresh])
        #expect(inMemory.failed.count == 1)
    }

    @Test func keepsWhatItDownloadsInMemoryWhenAskedFor() async {
        #expect(await prefetch([urls[0]], [.alsoPrefetchToMemory]).completed.count == 1)
        #expect(type(urls[0]) == .memory)
    }

    @Test(arguments: [OriginResponse.html(), .empty, .status(500)])
    func whatIsNoImageFailsAndIsNotCached(response: OriginResponse) async {
        fixture.origin.route("/0.png", response)
        #expect(await prefetch([urls[0]]).failed.count == 1)
        #expect(type(urls[0]) == .none)
    }

    @Test func whatCannotBeWrittenHasFailed() async throws {
        let cache = try fixture.folder.unwritableCache()
        #expect(await prefetch([urls[0]], [.targetCache(cache)]).failed.count == 1)
    }

    @Test func anAlternativeSourceIsLoadedInstead() async {
        let report = await prefetch(
            [fixture.origin.url("/missing.png")], [.alternativeSources([.network(urls[0])])])
        #expect(report.completed.count == 1 && type(urls[0]).cached)
    }

    @Test func stoppingWhileAStrategyThinksEndsTheSource() async {
        let strategy = SilentStrategy()
        let run = prefetcher(
            [.network(fixture.origin.url("/missing.png"))], [.retryStrategy(strategy)])
        run.prefetcher.start()
        await strategy.asked.wait(until: { $0 > 0 })
        run.prefetcher.stop()
        #expect(await run.report().failed.count == 1)
    }

    @Test func startingAfterAStopCompletesWithFailuresOnce() async {
        let run = prefetcher(urls.map { .network($0) })
        run.prefetcher.stop()
        run.prefetcher.start()
        run.prefetcher.start()
        #expect(await run.report().failed.count == 4)
        #expect(run.progress.events.isEmpty && fixture.origin.requestCount == 0)
    }

    @Test func aLoneTrailingClosureIsTheCompletion() async {
        // An end is told of once, progress for each of two.
        let calls = Recorder<Int>()
        let pair = Array(urls.prefix(2))
        ImagePrefetcher(urls: pair, options: options) { skipped, failed, completed in
            calls.record(skipped.count + failed.count + completed.count)
        }.start()
        await calls.waitFor(count: 1)
        ImagePrefetcher(resources: pair, options: options) { skipped, _, _ in
            calls.record(skipped.count)
        }.start()
        await calls.waitFor(count: 2)
        ImagePrefetcher(sources: pair.map { .network($0) }, options: options) { skipped, _, _ in
            calls.record(skipped.count)
        }.start()
        #expect(await calls.waitFor(count: 3) == [2, 2, 2])
        // Told of on one queue: what came before has been recorded.
        await mainQueueTurn()
        #expect(calls.count == 3)
    }

    @Test func tellsWhyEachSourceFailed() async {
        fixture.origin.route("/1.png", .status(503))
        fixture.origin.route("/2.png", .html())
        let run = prefetcher(urls.map { .network($0) })
        #expect(run.prefetcher.failures.isEmpty)
        let report = await run.reportAfterStart()
        let failures = run.prefetcher.failures
        #expect(failures.map(\.source.cacheKey) == report.failed)
        let codes = Dictionary(
            uniqueKeysWithValues: failures.map { ($0.source.cacheKey, $0.error.errorCode) })
        #expect(codes == [urls[1].cacheKey: 2002, urls[2].cacheKey: 4001])
        #expect(run.prefetcher.takeFailures().count == 2 && run.prefetcher.failures.isEmpty)
    }

    @Test func fiveAtATimeByDefaultAndDescribedByItsAddress() {
        let prefetcher = ImagePrefetcher(urls: [])
        #expect(prefetcher.maxConcurrentDownloads == 5)
        #expect(prefetcher.description == "\(Unmanaged.passUnretained(prefetcher).toOpaque())")
        #expect(prefetcher.description.hasPrefix("0x"))
    }
}

private struct SilentStrategy: RetryStrategy {
    let asked = Observed(0)

    func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        asked.update { $0 += 1 }
    }
}
