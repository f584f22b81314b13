import Foundation
import HalcyonTestKit
import Synchronization
import Testing

@testable import Halcyon

struct ImageDownloaderCancellationTests {
    private let url = URL(string: "http://a.example/x.png")!
    private let other = URL(string: "http://a.example/y.png")!
    private let gate = Gate()
    private let results = Recorder<LoadingResult>()
    private let transport: ScriptedTransport
    private let downloader: ImageDownloader

    init() {
        transport = ScriptedTransport(body: Data([42]), after: gate)
        downloader = ImageDownloader(name: "test", transport: transport)
    }

    @discardableResult
    private func download(_ url: URL, _ more: KingfisherOptionsInfo = []) -> DownloadTask {
        downloader.download(url, .processing(FirstByteProcessor(), more), into: results)
    }

    /// Upstream: testCancelDownloadTask
    @Test func theOnlyCallersCancellationEndsTheTransfer() async throws {
        let cancelled = Recorder<Bool>()
        let transport = ScriptedTransport { [gate] _, _ in
            // Ends when it is cancelled, and only then.
            try? await gate.wait()
            cancelled.record(Task.isCancelled)
        }
        let downloader = ImageDownloader(name: "test", transport: transport)
        let task = downloader.download(url, into: results)
        await transport.requests.waitFor(count: 1)
        task.cancel()
        guard
            case .requestError(reason: .taskCancelled(let session, let token)) =
                results.events.first?.error
        else { throw Unexpected(results.events.first) }
        #expect(session === task.sessionTask && token == 0)
        #expect(await cancelled.waitFor(count: 1) == [true])
        task.cancel()
        #expect(results.count == 1)
    }

    /// Upstream: testCancelOneDownloadTask
    @Test func oneOfTwoSharersLeavesAlone() async throws {
        let (first, second) = (download(url), download(url))
        first.cancel()
        #expect(results.events.map(\.errorCode) == [1003])
        gate.open()
        #expect(await results.waitFor(count: 2)[1].errorCode == nil)
        second.cancel()
        #expect(results.count == 2 && transport.requests.count == 1)
    }

    /// Upstream: testCancelAllDownloadTasks
    @Test func cancelAllReachesEverybody() async {
        for target in [url, url, other] { download(target) }
        downloader.cancelAll()
        #expect(results.events.map(\.errorCode) == [1003, 1003, 1003])
    }

    /// Upstream: testCancelDownloadTaskForURL
    @Test func cancelURLReachesItsCallersOnly() async {
        for target in [url, url, other] { download(target) }
        downloader.cancel(url: url)
        #expect(results.events.map(\.errorCode) == [1003, 1003])
        gate.open()
        #expect(await results.waitFor(count: 3)[2].errorCode == nil)
    }

    /// Upstream: testCancelThenRestartSameDownload
    @Test func aRequestAfterACancellationStartsAnew() async {
        download(url).cancel()
        #expect(download(url).cancelToken == 0)
        gate.open()
        #expect(await results.waitFor(count: 2).map(\.errorCode) == [1003, nil])
    }

    @Test func aHandleCancelledBeforeTheStartSendsNothing() async {
        let handle = DownloadTask()
        handle.cancel()
        let ends = Recorder<Int?>()
        downloader.start(url: url, options: .processing(), progress: nil, handle: handle) {
            ends.record($0.errorCode)
        }
        #expect(ends.events == [1003] && transport.requests.count == 0)
    }

    /// Defect: D-2
    @Test func cancellingWhileAnAsyncModifierRunsIsNotLost() async {
        let modifier = HeldModifier(gate: gate)
        let task = download(url, [.requestModifier(modifier)])
        await gate.waitForWaiters()
        #expect(!task.isInitialized)
        task.cancel()
        #expect(results.events.map(\.errorCode) == [1003])
        gate.open()
        await modifier.ended.waitFor(count: 1)
        #expect(results.count == 1 && transport.requests.count == 0)
        #expect(downloader.preparations.withLock { $0.isEmpty })
    }

    /// Upstream: testCancelDownloadTaskAsync
    @Test func cancellingTheSwiftTaskCancelsTheDownload() async {
        let task = Task { [downloader, url] in
            try await downloader.downloadImage(with: url, options: .processing())
        }
        await transport.requests.waitFor(count: 1)
        task.cancel()
        #expect(await kingfisherError { _ = try await task.value }?.isTaskCancelled == true)
    }

    @Test func cancellingTheSwiftTaskBeforeThereIsADownloadIs1005() async {
        let task = Task { [downloader, url, modifier = HeldModifier(gate: gate)] in
            try await downloader.downloadImage(with: url, options: .modifying(modifier))
        }
        await gate.waitForWaiters()
        task.cancel()
        #expect(await kingfisherError { _ = try await task.value }?.errorCode == 1005)
    }

    @Test func aSwiftTaskCancelledBeforehandThrowsCancellationError() async {
        let task = Task { [downloader, url] in
            try? await Gate().wait()
            return try await downloader.downloadImage(with: url, options: .processing())
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 0)
    }

    /// Upstream: xtestDataReceivingSideEffectBlockCanBeCalledButNotApply
    @Test func aCancelledCallerGetsNoProgress() async {
        let downloader = ImageDownloader(
            name: "test",
            transport: ScriptedTransport { [gate] _, it in
                try await it.respond(headers: ["Content-Length": "2"])
                try it.send(Data([1]))
                try await gate.wait()
            })
        // The main actor is ours until the end of the closure, so no progress can come before.
        await MainActor.run {
            let task = downloader.downloadImage(
                with: url, options: [.processor(FirstByteProcessor())],
                progressBlock: { _, _ in Issue.record("there was progress") })
            task.cancel()
        }
        await MainActor.run {}
    }

    /// Upstream: testForceCancelConcurrentWithAddCallbackIsThreadSafe, testConcurrentDownloadSameURL
    @Test func everyCallerIsServedExactlyOnceUnderRandomCancellation() async {
        let transport = ScriptedTransport { _, exchange in
            await Task.yield()
            try await exchange.answer(Data([7]))
        }
        let downloader = ImageDownloader(name: "test", transport: transport)
        let served = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<400 {
                group.addTask { [url, other] in
                    let task = downloader.downloadImage(
                        with: caller % 3 == 0 ? other : url, options: .processing()
                    ) { _ in served.record(caller) }
                    if caller % 4 == 1 { await Task.yield() }
                    if caller % 2 == 1 { task.cancel() }
                    if caller % 50 == 0 { downloader.cancel(url: url) }
                }
            }
        }
        await served.waitFor(count: 400)
        #expect(Set(served.events).count == 400 && served.count == 400)
        #expect(downloader.downloads.tickets.isEmpty)
    }
}
