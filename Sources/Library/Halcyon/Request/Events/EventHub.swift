import Synchronization

/// Those who want to know what happens to the requests of a manager.
final class EventHub: Sendable {
    /// More events than this that a listener has not taken yet push out the oldest.
    private static let mostPending = 16_384

    /// Someone who is told of events, until the end.
    private struct Listener {
        let tell: @Sendable (ImageEvent) -> Void
        let end: @Sendable () -> Void
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var last = 0
    }

    private let count = Atomic(0)
    private let state = Mutex(State())

    /// Whether anybody listens: all that a request asks when nobody does.
    var isObserved: Bool { count.load(ordering: .relaxed) > 0 }

    /// What `note` makes of the events from now on.
    ///
    /// - Parameter note: Called where each event happens: with `started` in the task that makes the request.
    func listen<Note: Sendable>(
        _ note: @escaping @Sendable (ImageEvent) -> Note
    ) -> AsyncStream<Note> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Note.self, bufferingPolicy: .bufferingNewest(Self.mostPending))
        let listener = Listener {
            continuation.yield(note($0))
        } end: {
            continuation.finish()
        }
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            return state.last
        }
        count.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    func send(_ event: ImageEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.tell(event) }
    }

    private func remove(_ number: Int) {
        let removed = state.withLock { $0.listeners.removeValue(forKey: number) }
        if removed != nil { count.subtract(1, ordering: .relaxed) }
    }

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.end() }
    }
}

/// Tells what happens to one request: the listeners of its manager, and that of the request itself.
final class RequestEvents: Sendable {
    private let hub: EventHub?
    private let listener: RequestListener?
    private let request: ImageEvent.RequestID
    private let source: Source

    init(_ hub: EventHub?, _ listener: RequestListener?, number: UInt64, source: Source) {
        self.hub = hub
        self.listener = listener
        request = ImageEvent.RequestID(number: number)
        self.source = source
    }

    func note(_ kind: ImageEvent.Kind) {
        let event = ImageEvent(
            request: request, source: source, time: ContinuousClock.now, kind: kind)
        hub?.send(event)
        listener?.tell(event)
    }

    func note(end result: Result<RetrieveImageResult, KingfisherError>) {
        switch result {
        case .success(let value): note(.succeeded(value.cacheType))
        case .failure(let error) where error.isCancelled: note(.cancelled)
        case .failure(let error): note(.failed(error))
        }
    }
}

/// The `onEvent` of a request.
struct RequestListener: Sendable {
    private let queue: CallbackQueue
    private let block: @Sendable (ImageEvent) -> Void

    /// - Parameter queue: Where `block` is called. Events from the main queue and those from elsewhere have to
    ///   stay in their order, so that all wait for their turn there.
    init(_ block: @escaping @Sendable (ImageEvent) -> Void, on queue: CallbackQueue) {
        self.block = block
        if case .mainCurrentOrAsync = queue { self.queue = .mainAsync } else { self.queue = queue }
    }

    func tell(_ event: ImageEvent) {
        queue.execute { [block] in block(event) }
    }
}

extension KingfisherManager {
    /// What happens from now on to the requests of this manager, and to those of views when it is
    /// ``shared``. Prefetchers have no manager and are not followed.
    ///
    /// Each access makes a sequence of its own, for one task to go through; it ends with the manager, and
    /// listening ends with the loop or its task. Of more than 16,384 events that the task has not taken
    /// yet the oldest are lost. A request that began before is not followed. As long as nobody
    /// listens, nothing is made of events.
    ///
    /// ```swift
    /// for await event in manager.events {
    ///     if case .succeeded(let cache) = event.kind { print(event.request, "came from", cache) }
    /// }
    /// ```
    public var events: AsyncStream<ImageEvent> { eventHub.listen { $0 } }

    /// The same with what `note` makes of each event: that of the start of a request in the task that makes
    /// it, so that it sees the values of that task.
    package func events<Note: Sendable>(
        noting note: @escaping @Sendable (ImageEvent) -> Note
    ) -> AsyncStream<Note> { eventHub.listen(note) }
}

extension ImageRequest {
    /// This request, with what happens to it told to those who listen to the manager, if anybody does, and to
    /// its own `onEvent`.
    ///
    /// - Parameters:
    ///   - hub: That of the manager; `nil` for a request that has none.
    ///   - queue: Where `onEvent` is called in place of the request's callback queue.
    consuming func followed(by hub: EventHub?, on queue: CallbackQueue? = nil) -> ImageRequest {
        let block = options.onEvent
        let isObserved = hub?.isObserved ?? false
        guard isObserved || block != nil else { return self }
        let ownQueue = options.callbackQueue
        let listener = block.map { RequestListener($0, on: queue ?? ownQueue) }
        let events = RequestEvents(
            isObserved ? hub : nil, listener, number: number, source: originalSource)
        options.events = events
        events.note(.started)
        return self
    }
}

/// What is done for a request, in the words of metrics.
package enum ImageStage: String, Sendable, CaseIterable {
    /// Looking into the caches.
    case lookup
    /// Waiting for bytes, of a server or a data provider.
    case fetch
    /// Waiting for a thread that makes the image.
    case queue
    case process
    case decode
    /// Writing to the disk.
    case store
}

/// The stages of one request, from its events: a value that a test can follow.
package struct RequestTrail: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// What an event says beside what came before it.
    package enum Step: Sendable {
        case stage(ImageStage, from: Instant, to: Instant)
        /// A fetch that has brought something.
        case fetched(byteCount: Int, NetworkMetrics?, from: Instant, to: Instant)
        /// One that has not, because of a failure or because nobody wanted it any longer.
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
    /// When the step under way has begun.
    private var mark: Instant
    /// Whether an image was made, so that a file of it may be written after the end.
    package private(set) var mayBeStored = false

    package init(start: Instant) {
        self.start = start
        mark = start
    }

    /// - Returns: In the order they happened.
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

    /// Ends the looking or waiting that was under way.
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
