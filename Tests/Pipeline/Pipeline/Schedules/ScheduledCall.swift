import HalcyonTestKit

@testable import Halcyon

/// A call of a schedule, from its start on.
final class ScheduledCall: Sendable {
    /// What a call was told at its end.
    enum End: Sendable {
        case image(key: String, width: Int)
        case failure(code: Int, isCancellation: Bool)
        /// Of a prefetcher: sources it has told of, and the codes of those that failed.
        case prefetched(count: Int, failures: [Int], isCancellation: Bool)
    }

    private struct Control: Sendable {
        var cancel: (@Sendable () -> Void)?
        var reprioritize: (@Sendable (Float) -> Void)?
        var isCancelled = false
    }

    let plan: Schedule.Call
    let ends = Recorder<End>()
    private let control = Locked(Control())
    private let task = WeakTask()

    init(_ plan: Schedule.Call) {
        self.plan = plan
    }

    /// Whether somebody still keeps the task it was given.
    var isTaskKept: Bool { task.isKept }

    var isCancelled: Bool { control.value.isCancelled }

    func start(_ sources: [Source], _ options: KingfisherOptionsInfo, _ manager: KingfisherManager)
    {
        switch plan.form {
        case .callback: startCallback(sources[0], options, manager)
        case .task: startTask(sources[0], options, manager)
        case .prefetcher: startPrefetcher(sources, options, manager)
        }
    }

    func cancel() {
        let cancel = control.withLock { control in
            control.isCancelled = control.isCancelled || control.cancel != nil
            return control.cancel
        }
        cancel?()
    }

    func reprioritize(_ priority: Float) {
        control.value.reprioritize?(priority)
    }

    /// Lets go of what would cancel it.
    func release() {
        control.withLock { control in
            control.cancel = nil
            control.reprioritize = nil
        }
    }

    private func startCallback(
        _ source: Source, _ options: KingfisherOptionsInfo, _ manager: KingfisherManager
    ) {
        let latest = Locked<DownloadTask?>(nil)
        let first = manager.retrieveImage(
            with: source, options: options, downloadTaskUpdated: { latest.set($0) },
            completionHandler: { [ends] in ends.record(End($0)) })
        guard let first else { return }
        task.remember(first)
        latest.withLock { if $0 == nil { $0 = first } }
        let cancelsFirst = plan.cancelsFirstTask
        control.withLock { control in
            control.cancel = { (cancelsFirst ? first : latest.value ?? first).cancel() }
            control.reprioritize = { first.priority = $0 }
        }
    }

    private func startTask(
        _ source: Source, _ options: KingfisherOptionsInfo, _ manager: KingfisherManager
    ) {
        let task = Task { [ends] in
            do {
                let result = try await manager.retrieveImage(with: source, options: options)
                ends.record(End(.success(result)))
            } catch let error as KingfisherError {
                ends.record(End(.failure(error)))
            } catch {
                ends.record(.failure(code: 0, isCancellation: error is CancellationError))
            }
        }
        control.withLock { $0.cancel = { task.cancel() } }
    }

    private func startPrefetcher(
        _ sources: [Source], _ options: KingfisherOptionsInfo, _ manager: KingfisherManager
    ) {
        let failures = Locked<[PropagationError]>([])
        let known = Locked<ImagePrefetcher?>(nil)
        let prefetcher = ImagePrefetcher(
            sources: sources,
            options: [.targetCache(manager.cache), .downloader(manager.downloader)] + options
        ) { [ends] skipped, failed, completed in
            failures.set(known.value?.failures ?? [])
            known.set(nil)
            ends.record(
                .prefetched(
                    count: skipped.count + failed.count + completed.count,
                    failures: failures.value.map(\.error.errorCode),
                    isCancellation: failures.value.contains { $0.error.isCancelled }))
        }
        known.set(prefetcher)
        prefetcher.start()
        control.withLock { $0.cancel = { prefetcher.stop() } }
    }
}

/// Knows a task without keeping it.
private final class WeakTask: @unchecked Sendable {
    // Unchecked because of the weak reference, which is set once, before anybody asks.

    private weak var task: DownloadTask?

    var isKept: Bool { task != nil }

    func remember(_ task: DownloadTask) {
        self.task = task
    }
}

extension ScheduledCall.End {
    init(_ result: Result<RetrieveImageResult, KingfisherError>) {
        switch result {
        case .success(let value):
            self = .image(key: value.source.cacheKey, width: value.image.pixelSize.width)
        case .failure(let error):
            self = .failure(code: error.errorCode, isCancellation: error.isCancelled)
        }
    }
}
