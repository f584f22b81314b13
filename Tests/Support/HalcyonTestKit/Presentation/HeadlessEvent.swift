public import Halcyon

/// What happened to a headless view.
public enum HeadlessEvent: Hashable, Sendable {
    /// It was given this image, or none.
    case image(ObjectIdentifier?)
    /// A view was put on top of its image.
    case overlayAdded(ObjectIdentifier)
    /// A view was taken away from its image.
    case overlayRemoved(ObjectIdentifier)
    /// A transition began.
    case transitionBegan(seconds: Double, ImageTransition.AnimationOptions)
    /// The transition begun last has ended.
    case transitionEnded
    /// It was shown or hidden.
    case hidden(Bool)

    /// Whether it was given an image.
    public var isImage: Bool { if case .image(.some) = self { true } else { false } }

    /// It was given `image`, or none.
    public static func shows(_ image: KFCrossPlatformImage?) -> HeadlessEvent {
        .image(image.map { ObjectIdentifier($0) })
    }
}

/// The events of a headless view, with their times.
@MainActor public final class HeadlessRecord {
    /// An event and when it happened.
    public struct Entry: Hashable, Sendable {
        /// Time since the clock was made.
        public var time: Duration
        /// What happened.
        public var event: HeadlessEvent
    }

    private let clock: ManualClock
    private let list = Recorder<Entry>()

    public init(clock: ManualClock) {
        self.clock = clock
    }

    /// What happened so far.
    public var entries: [Entry] { list.events }

    /// What happened so far, without the times.
    public var events: [HeadlessEvent] { entries.map(\.event) }

    /// Adds an event that happens now.
    public func record(_ event: HeadlessEvent) {
        list.record(Entry(time: clock.now.offset, event: event))
    }

    /// Forgets what happened so far.
    public func removeAll() {
        list.removeAll()
    }

    /// Waits until `condition` holds for what happened so far; returns at once when cancelled.
    public func wait(until condition: @Sendable ([HeadlessEvent]) -> Bool) async {
        await list.wait { condition($0.map(\.event)) }
    }
}
