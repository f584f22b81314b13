public import HalcyonGTK

/// A frame clock that only a test advances.
@MainActor public final class ManualFrameTicker: FrameTicker {
    /// The time of the last frame.
    public private(set) var now = Duration.zero
    private var bodies: [Int: @MainActor (Duration) -> Void] = [:]
    private var nextID = 0

    public init() {}

    /// The number of active subscriptions.
    public var subscriberCount: Int { bodies.count }

    public func onEachFrame(
        _ body: @escaping @MainActor (_ time: Duration) -> Void
    ) -> FrameSubscription {
        let id = nextID
        nextID += 1
        bodies[id] = body
        return FrameSubscription { [weak self] in self?.bodies[id] = nil }
    }

    /// Ticks a frame that is `step` later than the last one.
    public func advance(by step: Duration) {
        now += step
        for (id, body) in bodies.sorted(by: { $0.key < $1.key }) where bodies[id] != nil {
            body(now)
        }
    }
}
