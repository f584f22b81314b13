/// The stages of a request, named as in metrics.
package enum ImageStage: String, Sendable, CaseIterable {
    case lookup
    /// Waiting for bytes from a server or a data provider.
    case fetch
    case queue
    case process
    case decode
    /// Writing to the disk.
    case store
}

package struct RequestTrail: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// A stage or outcome that follows from an event and its predecessors.
    package enum Step: Sendable {
        case stage(ImageStage, from: Instant, to: Instant)
        case fetched(byteCount: Int, NetworkMetrics?, from: Instant, to: Instant)
        /// A fetch without a result, failed or cancelled.
        case unfetched(isFailure: Bool, from: Instant, to: Instant)
        case retried
        case revalidated
        case ended(End)
    }

    package enum End: Sendable {
        case succeeded(CacheType)
        case failed(code: Int)
        case cancelled
    }

    private enum Phase {
        case looking, waiting, working
    }

    package let start: Instant
    private var phase = Phase.looking
    private var mark: Instant
    /// Whether an image was made, so that a file of it may be written after the end.
    package private(set) var mayBeStored = false

    package init(start: Instant) {
        self.start = start
        mark = start
    }

    /// - Returns: The steps, in the order they happened.
    package mutating func follow(_ kind: ImageEvent.Kind, at time: Instant) -> [Step] {
        switch kind {
        case .started:
            return []
        case .found, .foundOriginal:
            return enter(.working, at: time)
        case .waiting:
            return enter(.waiting, at: time)
        case .transferred(let byteCount, let metrics):
            defer { mark = time }
            phase = .working
            mayBeStored = true
            return [.fetched(byteCount: byteCount, metrics, from: mark, to: time)]
        case .made(let waiting, let processing, let rendering):
            let rendered = time - rendering
            let processed = rendered - processing
            mark = time
            mayBeStored = true
            return [
                .stage(.queue, from: processed - waiting, to: processed),
                .stage(.process, from: processed, to: rendered),
                .stage(.decode, from: rendered, to: time),
            ]
        case .stored(.disk):
            return [.stage(.store, from: mark, to: time)]
        case .stored:
            mark = time
            return []
        case .revalidated:
            return [.revalidated]
        case .retried:
            return enter(.looking, at: time) + [.retried]
        case .succeeded(let cache):
            return enter(.working, at: time) + [.ended(.succeeded(cache))]
        case .failed(let error):
            return enter(.working, at: time) + [.ended(.failed(code: error.errorCode))]
        case .cancelled:
            return enter(.working, at: time, isFailure: false) + [.ended(.cancelled)]
        }
    }

    /// Ends the current lookup or wait.
    private mutating func enter(
        _ next: Phase, at time: Instant, isFailure: Bool = true
    ) -> [Step] {
        defer { phase = next }
        switch phase {
        case .looking:
            defer { mark = time }
            return [.stage(.lookup, from: mark, to: time)]
        case .waiting:
            defer { mark = time }
            return [.unfetched(isFailure: isFailure, from: mark, to: time)]
        case .working:
            if next != .working { mark = time }
            return []
        }
    }
}
