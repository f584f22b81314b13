import Synchronization

/// The listeners to the events of a manager's requests.
final class EventHub: Sendable {
    /// The buffer size of a listener, in events; beyond it the oldest are dropped.
    private static let mostPending = 16_384

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

    /// Whether there are listeners: the only cost of a request without any.
    var isObserved: Bool { count.load(ordering: .relaxed) > 0 }

    /// The results of `note` for all events from now on. It is called where each event happens: with
    /// `started` in the task that makes the request.
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

/// Sends the events of one request to the listeners of its manager and to its own listener.
final class RequestEvents: Sendable {
    private let hub: EventHub?
    private let listener: (@Sendable (ImageEvent) -> Void)?
    private let request: ImageEvent.RequestID
    private let source: Source

    init(
        _ hub: EventHub?, _ listener: (@Sendable (ImageEvent) -> Void)?, number: UInt64,
        source: Source
    ) {
        self.hub = hub
        self.listener = listener
        request = ImageEvent.RequestID(number: number)
        self.source = source
    }

    func note(_ kind: ImageEvent.Kind) {
        let event = ImageEvent(
            request: request, source: source, time: ContinuousClock.now, kind: kind)
        hub?.send(event)
        listener?(event)
    }

    func note(end result: Result<RetrieveImageResult, KingfisherError>) {
        switch result {
        case .success(let value): note(.succeeded(value.cacheType))
        case .failure(let error) where error.isCancelled: note(.cancelled)
        case .failure(let error): note(.failed(error))
        }
    }
}

extension KingfisherManager {
    /// The events of this manager's requests from now on, including those of views if it is
    /// ``shared``. Prefetchers have no manager and are not followed.
    ///
    /// Each access makes a new sequence, for one task to iterate over; it ends with the manager,
    /// and listening ends with the loop or its task. Beyond 16,384 pending events the oldest are
    /// dropped. Requests already begun are not followed. Without listeners no events are made.
    ///
    /// ```swift
    /// for await event in manager.events {
    ///     if case .succeeded(let cache) = event.kind { print(event.request, "came from", cache) }
    /// }
    /// ```
    public var events: AsyncStream<ImageEvent> { eventHub.listen { $0 } }

    /// The results of `note` for each event; see `EventHub.listen`.
    package func events<Note: Sendable>(
        noting note: @escaping @Sendable (ImageEvent) -> Note
    ) -> AsyncStream<Note> { eventHub.listen(note) }
}

extension ImageRequest {
    /// This request, with its events sent to the manager's listeners, if there are any, and to its own
    /// `onEvent`: on `queue`, by default the callback queue of the request.
    consuming func followed(by hub: EventHub?, on queue: CallbackQueue? = nil) -> ImageRequest {
        let block = options.onEvent
        let isObserved = hub?.isObserved ?? false
        guard isObserved || block != nil else { return self }
        var queue = queue ?? options.callbackQueue
        // So that events from the main queue and from elsewhere stay in order.
        if case .mainCurrentOrAsync = queue { queue = .mainAsync }
        var listener: (@Sendable (ImageEvent) -> Void)?
        if let block { listener = { [queue] event in queue.execute { block(event) } } }
        let events = RequestEvents(
            isObserved ? hub : nil, listener, number: number, source: originalSource)
        options.events = events
        events.note(.started)
        return self
    }
}
