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
