import Foundation
import HalcyonWork
import Synchronization

/// Carries out a `PrefetchPlan`. Lives until its completion, with or without other references.
final class PrefetchRun: Sendable {
    private struct State {
        var plan: PrefetchPlan
        var reportedCount = 0
    }

    private let options: KingfisherParsedOptionsInfo
    private let reporter: any PrefetchReporter
    private let handle = DownloadTask()
    private let state: Mutex<State>

    init(
        sources: [Source], options: KingfisherOptionsInfo?, reporter: any PrefetchReporter
    ) {
        var parsed = KingfisherParsedOptionsInfo(options)
        parsed.targetCache = parsed.targetCache ?? .default
        parsed.originalCache = parsed.originalCache ?? parsed.targetCache
        // The purpose of prefetching is to load images missing in the cache.
        parsed.onlyFromCache = false
        self.options = parsed
        self.reporter = reporter
        state = Mutex(State(plan: PrefetchPlan(sources)))
    }

    var limit: Int {
        get { state.withLock { $0.plan.limit } }
        set { state.withLock { $0.plan.limit = newValue } }
    }

    var failures: [PropagationError] { state.withLock { $0.plan.failures } }

    func takeFailures() -> [PropagationError] { state.withLock { $0.plan.takeFailures() } }

    func start() {
        perform { $0.start() }
    }

    func stop() {
        if state.withLock({ $0.plan.stop() }) { handle.cancel() }
    }

    private var isStopped: Bool { state.withLock { $0.plan.isStopped } }

    private func perform(_ change: (inout PrefetchPlan) -> PrefetchPlan.Step) {
        let (step, requests) = state.withLock { state in
            let step = change(&state.plan)
            return (step, step.begins.map { ($0, request(for: state.plan.sources[$0])) })
        }
        if let misuse = step.misuse { HalcyonLog.misuse(misuse) }
        // One block for each report, regardless of their order.
        if step.hasProgress, reporter.tellsProgress { DispatchQueue.main.async { self.report() } }
        if step.isEnd, reporter.tellsEnd { DispatchQueue.main.async { self.report() } }
        for (index, request) in requests {
            // On a thread of the disk, which is read first; loading then wakes no other thread.
            DiskLane.reading.submit {
                Task.immediate { await self.prefetch(request, at: index) }
            }
        }
    }

    /// Reports the next finished source, or at the end all that are left. Runs on the main queue.
    private func report() {
        let (news, isEnd) = state.withLock { state in
            let plan = state.plan
            let isEnd = !reporter.tellsProgress || state.reportedCount == plan.progressCount
            let end = isEnd ? plan.done.count : state.reportedCount + 1
            defer { state.reportedCount = end }
            let done = plan.done[state.reportedCount..<end]
            return (done.map { (plan.sources[$0.index], $0.list) }, isEnd)
        }
        reporter.report(news, isEnd: isEnd)
    }

    private func prefetch(_ request: ImageRequest, at index: Int) async {
        var request = request
        request.imageKey = ImageKey(request.key, options)
        let outcome = await handle.cancelling(request.handle) { await self.outcome(of: request) }
        perform { $0.settle(index, as: outcome) }
    }

    private func request(for source: Source) -> ImageRequest {
        var request = ImageRequest(source: source, options: options, probing: .onItsOwnThread)
        request.purpose = .prefetch
        if options.needsBytesOnly {
            request.goal = .bytesOnDisk
            request.options.preloadAllAnimationData = false
            // The cache has already been probed, except with HTTP caching.
            request.options.forceRefresh =
                request.options.forceRefresh || !request.followsHTTPCaching
        }
        return request
    }

    /// Prefetches an image; begins on a thread of the disk.
    private func outcome(of request: ImageRequest) async -> PrefetchPlan.Outcome {
        if isStopped { return .cutShort }
        if !options.forceRefresh, !request.followsHTTPCaching, await isCached(request) {
            return .skipped
        }
        if isStopped { return .cutShort }
        if !request.followsHTTPCaching, let error = await request.waitForServer() {
            return .failed(error)
        }
        if isStopped { return .cutShort }
        switch await request.followed(by: nil).run() {
        case .success(let result):
            switch result.httpCacheUse {
            case nil, .fetched: return .completed
            case .fresh, .validated, .stale: return .skipped
            }
        case .failure(let error): return .failed(error)
        }
    }

    /// Whether nothing has to be loaded; if so, files from other machines are on this disk and,
    /// with `alsoPrefetchToMemory`, images on disk are in memory.
    private func isCached(_ request: ImageRequest) async -> Bool {
        let key = ImageKey(request.key, options)
        switch await cachedType(key, in: request.targetCache) {
        case .memory: return true
        case .none:
            if options.fromMemoryCacheOrRefresh || options.cacheMemoryOnly { return false }
            let brought = await request.targetCache.bring(
                key, options: options, isCurrent: { [self] in !isStopped })
            if brought == nil { return false }
        case .disk: break
        }
        guard options.alsoPrefetchToMemory else { return true }
        // A file that cannot be read is loaded anew.
        let found = try? await request.found(key, isCurrent: { [self] in !isStopped })
        return found?.image != nil
    }

    private func cachedType(_ key: ImageKey, in cache: ImageCache) async -> CacheType {
        if let type = cache.imageCachedTypeIfSettled(key) { return type }
        return await cache.cachedType(key)
    }
}

/// Reports finished sources to a caller's blocks. Used on the main queue only.
protocol PrefetchReporter: Sendable {
    /// Whether there is a progress block; `tellsEnd` is for the completion block.
    var tellsProgress: Bool { get }
    var tellsEnd: Bool { get }

    func report(_ news: [(source: Source, list: PrefetchPlan.Done.List)], isEnd: Bool)
}

/// The lists for a caller's blocks, of sources or of values made from them.
///
/// They grow in place: the cost of a report depends only on its new elements, as long as the caller
/// keeps no earlier lists.
final class PrefetchLists<Element: Sendable>: PrefetchReporter {
    typealias Block =
        @Sendable (
            _ skipped: [Element], _ failed: [Element], _ completed: [Element]
        ) -> Void

    private struct Lists {
        var skipped: [Element] = []
        var failed: [Element] = []
        var completed: [Element] = []
    }

    private let progress: Block?
    private let completion: Block?
    private let element: @Sendable (Source) -> Element?
    private let lists = Mutex(Lists())

    /// - Parameter element: Returns the list element of a source; `nil` to leave the source out.
    init(
        progress: Block?, completion: Block?, element: @escaping @Sendable (Source) -> Element?
    ) {
        self.progress = progress
        self.completion = completion
        self.element = element
    }

    var tellsProgress: Bool { progress != nil }
    var tellsEnd: Bool { completion != nil }

    func report(_ news: [(source: Source, list: PrefetchPlan.Done.List)], isEnd: Bool) {
        let lists = lists.withLock { lists in
            for (source, list) in news {
                guard let element = element(source) else { continue }
                switch list {
                case .skipped: lists.skipped.append(element)
                case .failed: lists.failed.append(element)
                case .completed: lists.completed.append(element)
                }
            }
            return lists
        }
        (isEnd ? completion : progress)?(lists.skipped, lists.failed, lists.completed)
    }
}

extension KingfisherParsedOptionsInfo {
    /// Whether the loaded bytes are exactly those for the disk cache, and have no other use.
    fileprivate var needsBytesOnly: Bool {
        guard !self.alsoPrefetchToMemory, !self.cacheMemoryOnly, self.imageModifier == nil,
            self.processor is DefaultImageProcessor, self.targetCache === self.originalCache,
            self.targetCache?.isSubclass != true,
            let serializer = self.cacheSerializer as? DefaultCacheSerializer
        else { return false }
        return serializer.preferCacheOriginalData || serializer.compressionQuality >= 1
    }
}
