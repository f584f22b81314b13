import Dispatch
import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Synchronization
import Testing

@testable import Halcyon

/// A manager with caches on a real disk and a fake network, in which schedules are run one after the
/// other, each with URLs of its own.
final class ScheduleWorld: Sendable {
    private let folder: TemporaryDirectory
    private let cache: ImageCache
    private let originals: ImageCache
    private let origin = ScheduledOrigin()
    private let downloader: ImageDownloader
    private let manager: KingfisherManager
    private let queue = DispatchQueue(label: "schedules")
    private let runs = Locked(0)
    /// All calls so far, with the seeds of their schedules.
    private let calls = Locked<[(seed: UInt64, call: ScheduledCall)]>([])

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "target", cacheDirectoryURL: folder.url)
        originals = try ImageCache(name: "originals", cacheDirectoryURL: folder.url)
        // All schedules have one server, whose pauses grow with each refusal; whoever waits for it waits for
        // no real time, and long enough for any pause.
        let time = Locked(Date(timeIntervalSince1970: 1_800_000_000))
        let pauses = ServerPauses {
            time.value
        } sleep: { _ in
            await Task.yield()
            time.withLock { $0 += 1_000 }
        }
        downloader = ImageDownloader(
            name: "scheduled", transport: origin.transport, serverPauses: pauses)
        manager = KingfisherManager(downloader: downloader, cache: cache)
    }

    /// Runs a schedule to its end and checks what has become of its calls.
    func run(_ schedule: Schedule) async {
        runs.withLock { $0 += 1 }
        let run = Run(schedule, number: runs.value)
        for (url, plan) in run.plans { origin.plan(url, plan) }
        for step in schedule.steps {
            for _ in 0..<step.yields { await Task.yield() }
            perform(step.event, of: run)
        }
        for gate in run.gates { gate.open() }
        for call in run.calls {
            // Less than one only if the time limit of the test has cancelled the wait.
            let count = await call.ends.waitFor(count: 1).count
            if count != 1 { report("a call has ended \(count) times", schedule.seed) }
            call.release()
        }
        await waitUntilIdle(schedule.seed, run.calls)
        for (url, _) in run.plans { origin.plan(url, nil) }
        for call in run.calls { check(call, of: run) }
        calls.withLock { $0 += run.calls.map { (schedule.seed, $0) } }
    }

    /// Checks that no call has been told anything after its end, and that nothing is under way.
    func finish() async {
        await waitUntilIdle(calls.value.last?.seed ?? 0)
        for (seed, call) in calls.value where call.ends.count != 1 {
            report("a call was told \(call.ends.count) ends", seed)
        }
    }

    private func perform(_ event: Schedule.Event, of run: Run) {
        switch event {
        case .start(let index):
            let call = run.calls[index]
            call.start(run.sources(of: call.plan), options(of: call.plan, in: run), manager)
        case .cancel(let index): run.calls[index].cancel()
        case .reprioritize(let index): run.calls[index].reprioritize(0.9)
        case .open(let gate): run.gates[gate].open()
        case .cancelDownloads(let picture): downloader.cancel(url: run.url(of: picture))
        case .remove(let picture): cache.removeImage(forKey: run.url(of: picture).cacheKey)
        case .clearMemory: cache.clearMemoryCache()
        case .clearDisk: cache.clearDiskCache()
        }
    }

    private func options(of call: Schedule.Call, in run: Run) -> KingfisherOptionsInfo {
        var options: KingfisherOptionsInfo = [.callbackQueue(.untouch)]
        if let alternative = call.alternative {
            options.append(.alternativeSources([.network(run.url(of: alternative))]))
        }
        for trait in call.traits {
            let option: KingfisherOptionsInfoItem =
                switch trait {
                case .processed: .processor(WideningProcessor())
                case .cachesOriginal: .cacheOriginalImage
                case .hasOriginalCache: .originalCache(originals)
                case .waitsForCache: .waitForCache
                case .refreshes: .forceRefresh
                case .ignoresDisk: .fromMemoryCacheOrRefresh
                case .onlyFromCache: .onlyFromCache
                case .cachesInMemoryOnly: .cacheMemoryOnly
                case .probesElsewhere: .asyncCacheTypeCheck
                case .readsDiskAtOnce: .loadDiskFileSynchronously
                case .modifiesRequest: .requestModifier(SlowModifier())
                case .retries: .retryStrategy(QuickRetries())
                case .callsBackOnQueue: .callbackQueue(.dispatch(queue))
                }
            options.append(option)
        }
        return options
    }

    /// Waits until nothing is under way any more; that this ends is what is tested. It polls because the
    /// tables of a downloader and of caches tell nobody when their last entry goes.
    ///
    /// A file may be begun to be written after that: nobody waits for such a store.
    private func waitUntilIdle(_ seed: UInt64, _ calls: [ScheduledCall] = []) async {
        while let work = currentWork(of: calls) {
            if Task.isCancelled { return report("there is still \(work)", seed) }
            await pause()
        }
    }

    /// What is still under way; `nil` when nothing is.
    private func currentWork(of calls: [ScheduledCall]) -> String? {
        if calls.contains(where: \.isTaskKept) { return "the task of a call that has ended" }
        let tickets = downloader.downloads.tickets.count
        let preparing = downloader.preparations.withLock { $0.count }
        if tickets > 0 { return "\(tickets) waiters of downloads" }
        if preparing > 0 { return "\(preparing) requests being prepared" }
        if !downloader.downloads.isIdle { return "a visit of a download" }
        if origin.runningCount > 0 { return "\(origin.runningCount) exchanges" }
        for cache in [cache, originals] {
            if !cache.operations.isIdle { return "a change of the disk" }
            if !cache.lookups.isIdle { return "a look-up on the disk" }
            if !cache.originals.isIdle { return "a visit of an original" }
        }
        return nil
    }

    private func check(_ call: ScheduledCall, of run: Run) {
        let plan = call.plan
        let isProvided = plan.provider != nil
        let others = plan.pictures.dropFirst(isProvided ? 1 : 0)
        let mayFail =
            plan.traits.contains(.onlyFromCache)
            || others.contains { !run.schedule.isServed($0) }
        let mayBeCancelled =
            call.isCancelled || others.contains(where: run.schedule.isCancelledByOthers)
        func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
            if !holds { report(problem(), run.schedule.seed) }
        }
        for end in call.ends.events {
            switch end {
            case .image(let key, let width):
                let widths = run.widths(of: plan)
                expect(widths[key] == width, "\(key) is \(width) pixels wide, not \(widths)")
            case .failure(let code, let isCancellation):
                let isExpected = isCancellation ? mayBeCancelled : mayFail
                expect(isExpected, "a call failed with \(code): \(plan)")
            case .prefetched(let count, let failures, let isCancellation):
                let isWhole = count == run.sources(of: plan).count
                expect(isWhole, "a prefetcher told of \(count) sources: \(plan)")
                let isExpected = failures.isEmpty || (isCancellation ? mayBeCancelled : mayFail)
                expect(isExpected, "a prefetcher failed with \(failures): \(plan)")
            }
        }
    }

    private func report(_ problem: String, _ seed: UInt64) {
        Issue.record("\(problem); \(RandomScheduleTests.variable)=\(seed) repeats the schedule")
    }
}

private struct Run: Sendable {
    let schedule: Schedule
    let calls: [ScheduledCall]
    let gates = (0..<Schedule.gateCount).map { _ in Gate() }
    private let number: Int

    init(_ schedule: Schedule, number: Int) {
        self.schedule = schedule
        self.number = number
        calls = schedule.calls.map(ScheduledCall.init)
    }

    var plans: [(URL, ScheduledOrigin.Plan)] {
        schedule.exchanges.indices.map { picture in
            (
                url(of: picture),
                ScheduledOrigin.Plan(
                    picture: Self.files[picture], exchanges: schedule.exchanges[picture],
                    gates: gates)
            )
        }
    }

    func url(of picture: Int) -> URL {
        URL(string: "http://origin.example/\(number)/\(picture).png")!
    }

    /// What a call asks for; a prefetcher also for its alternative.
    func sources(of call: Schedule.Call) -> [Source] {
        let main: Source
        if let provider = call.provider {
            main = .provider(
                ScheduledProvider(
                    cacheKey: key(ofProvided: call.picture), bytes: Self.files[call.picture],
                    gate: provider.gate.map { gates[$0] },
                    heedsCancellation: provider.heedsCancellation))
        } else {
            main = .network(url(of: call.picture))
        }
        guard call.form == .prefetcher, let alternative = call.alternative else { return [main] }
        return [main, .network(url(of: alternative))]
    }

    /// The widths of the pictures a call may be given, by their cache keys.
    func widths(of call: Schedule.Call) -> [String: Int] {
        let more = call.traits.contains(.processed) ? WideningProcessor.more : 0
        var widths: [String: Int] = [:]
        for picture in call.pictures { widths[url(of: picture).cacheKey] = picture + 1 + more }
        if call.provider != nil { widths[key(ofProvided: call.picture)] = call.picture + 1 + more }
        return widths
    }

    private func key(ofProvided picture: Int) -> String { "provided/\(number)/\(picture)" }

    /// Pictures as wide as their numbers say.
    private static let files = (0..<3).map {
        PNGFixture.data(.gradient(width: $0 + 1, height: 2), as: .rgb8)
    }
}

/// Makes a picture wider, so that it can be told from the original.
private struct WideningProcessor: ImageProcessor {
    static let more = 20
    let identifier = "test.widening"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        guard let image = DefaultImageProcessor.default.process(item: item, options: options)
        else { return nil }
        let size = PixelSize(width: image.pixelSize.width + Self.more, height: 1)
        let pixels = Data(repeating: 9, count: size.pixelCount * 3)
        return Bitmap(pixels: pixels, size: size, channels: 3).map { Image(bitmap: $0) }
    }
}

/// Tries a few times more, at once or a little later.
private struct QuickRetries: RetryStrategy {
    func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
        guard context.retriedCount < 2 else { return retryHandler(.stop) }
        if context.retriedCount == 0 { return retryHandler(.retry(userInfo: nil)) }
        Task {
            await Task.yield()
            retryHandler(.retry(userInfo: nil))
        }
    }
}

/// Changes nothing, after a while.
private struct SlowModifier: AsyncImageDownloadRequestModifier {
    let onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? = nil

    func modified(for request: URLRequest) async -> URLRequest? {
        await Task.yield()
        return request
    }
}
