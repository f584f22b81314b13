import Foundation
import HalcyonWork
import Synchronization

/// Revalidates images that were delivered stale, in the background: once for each response at a
/// time, regardless of the number of requests, and a few at a time. Running revalidations have no
/// owner and are not cancelled.
///
/// Not a `WorkTable`, whose work begins with its first caller and ends with its last.
final class Revalidations: Sendable {
    private enum Phase {
        /// There has been no network since the job was begun.
        case awaitingNetwork
        case waiting
        case running
    }

    private struct Job {
        let record: ResponseRecord
        /// The request that began it, in its background form.
        let request: ImageRequest
        var phase: Phase
        var requests: [ImageRequest]
    }

    private struct State {
        /// In the order of arrival.
        var jobs: [Job] = []
        var pauses: [ObjectIdentifier: (pause: FailurePause, record: ResponseRecord)] = [:]
    }

    private static let width = 4
    private static let capacity = 256
    private let state = Mutex(State())
    /// The longest wait for a network, in seconds.
    private static let patience: TimeInterval = 30

    private let now: @Sendable () -> Date
    private let network: any NetworkMonitoring

    init(now: @escaping @Sendable () -> Date, network: any NetworkMonitoring) {
        self.now = now
        self.network = network
    }

    /// Revalidates the response of `record`, which has been delivered to `request`, unless the last
    /// attempt failed a moment ago. A view is notified in any case. With `awaitingNetwork` there is
    /// no network now, and it is waited for.
    func begin(
        _ record: ResponseRecord, for request: ImageRequest, awaitingNetwork: Bool = false
    ) {
        let id = ObjectIdentifier(record)
        let date = now()
        let (dropped, isFirst) = state.withLock { state -> ([ImageRequest], Bool) in
            if state.pauses[id]?.pause.end(at: date) != nil { return ([request], false) }
            if let index = state.jobs.firstIndex(where: { $0.record === record }) {
                state.jobs[index].requests.append(request)
                if !awaitingNetwork, state.jobs[index].phase == .awaitingNetwork {
                    state.jobs[index].phase = .waiting
                }
                return ([], false)
            }
            state.jobs.append(
                Job(
                    record: record, request: request.revalidating,
                    phase: awaitingNetwork ? .awaitingNetwork : .waiting, requests: [request]))
            let pending = state.jobs.indices.filter { state.jobs[$0].phase != .running }
            let isFull = pending.count > Self.capacity
            return (isFull ? state.jobs.remove(at: pending[0]).requests : [], true)
        }
        for request in dropped { request.onRevalidated?(nil) }
        if awaitingNetwork {
            if isFirst { awaitNetwork(for: record) }
        } else {
            startNext()
        }
    }

    /// Waits for a network on behalf of a revalidation, and drops it on a timeout. The wait takes
    /// up none of the running places.
    private func awaitNetwork(for record: ResponseRecord) {
        Task {
            let isConnected = await self.network.isConnected(within: Self.patience)
            let dropped: [ImageRequest] = self.state.withLock { state in
                let index = state.jobs.firstIndex {
                    $0.record === record && $0.phase == .awaitingNetwork
                }
                // Begun for another request, or dropped.
                guard let index else { return [] }
                guard isConnected else { return state.jobs.remove(at: index).requests }
                state.jobs[index].phase = .waiting
                return []
            }
            for request in dropped { request.onRevalidated?(nil) }
            self.startNext()
        }
    }

    private func startNext() {
        let job: Job? = state.withLock { state in
            guard state.jobs.count(where: { $0.phase == .running }) < Self.width,
                let index = state.jobs.firstIndex(where: { $0.phase == .waiting })
            else { return nil }
            state.jobs[index].phase = .running
            return state.jobs[index]
        }
        guard let job else { return }
        Task {
            // The server may have asked for a pause meanwhile.
            if job.request.downloader.serverPause(for: job.record.stored.url) != nil {
                self.finish(job.record, nil)
            } else {
                let result = await job.request.attempted()
                self.finish(job.record, self.finding(of: result, job.record))
            }
            self.startNext()
        }
    }

    private func finding(
        of result: Result<RetrieveImageResult, KingfisherError>, _ record: ResponseRecord
    ) -> HTTPRevalidation {
        switch result {
        case .failure(let error): return .failed(error)
        case .success(let image):
            // A stale copy was used once more.
            if case .stale(.error(let error))? = image.httpCacheUse { return .failed(error) }
            // Another redirect may have led to another response.
            let isSame = record.isCurrent && image.response == ObjectIdentifier(record)
            return isSame ? .unchanged : .changed(image)
        }
    }

    private func finish(_ record: ResponseRecord, _ finding: HTTPRevalidation?) {
        let id = ObjectIdentifier(record)
        let date = now()
        let job: Job? = state.withLock { state in
            if case .failed(let error)? = finding {
                var pause = state.pauses[id]?.pause ?? FailurePause(.backgroundRevalidation)
                pause.noteFailure(
                    at: date, retryAfter: error.retryAfter(at: date), chance: 0.5)
                state.pauses[id] = (pause, record)
            } else if finding != nil {
                state.pauses[id] = nil
            }
            // The pauses of unused responses, long over.
            if state.pauses.count > Self.capacity {
                state.pauses = state.pauses.filter { $0.value.pause.end(at: date) != nil }
            }
            let index = state.jobs.firstIndex { $0.record === record }
            return index.map { state.jobs.remove(at: $0) }
        }
        for request in job?.requests ?? [] {
            if let finding {
                tell(request, finding, job?.request)
            } else {
                request.onRevalidated?(nil)
            }
        }
    }

    private func tell(_ request: ImageRequest, _ found: HTTPRevalidation, _ asked: ImageRequest?) {
        guard request.onRevalidated != nil || request.options.onHTTPRevalidation != nil else {
            return
        }
        guard case .changed = found, asked?.number != request.number else {
            return request.tell(found)
        }
        // From the same bytes, but made by its own processor.
        Task {
            switch await request.revalidating.attempted() {
            case .success(let result): request.tell(.changed(result))
            case .failure(let error): request.tell(.failed(error))
            }
        }
    }
}

extension ImageRequest {
    private static let backgroundPriority: Float = 0.25

    fileprivate var revalidating: ImageRequest {
        var options = options
        options.onHTTPRevalidation = nil
        if options.events != nil { options.events = nil }
        if options.onSize != nil { options.onSize = nil }
        if options.announcement != nil { options.announcement = nil }
        options.downloadPriority = min(options.downloadPriority, Self.backgroundPriority)
        var asking = ImageRequest(source: source, options: options, probing: .onItsOwnThread)
        asking.number = number
        asking.purpose = .revalidation
        if goal == .file { asking.goal = .file }
        return asking
    }

    /// Makes the only attempt: in the background there are no retries and no alternatives.
    fileprivate func attempted() async -> Result<RetrieveImageResult, KingfisherError> {
        await Result(catching: image)
    }

    /// Reports the result of a revalidation: to a view on the main actor, to a program on its
    /// queue.
    fileprivate func tell(_ found: HTTPRevalidation) {
        options.events?.note(.revalidated)
        if let onRevalidated {
            onRevalidated(found)
        } else if let listener = options.onHTTPRevalidation {
            options.callbackQueue.execute { listener(found) }
        }
    }
}
