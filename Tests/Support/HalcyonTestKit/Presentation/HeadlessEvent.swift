public import Halcyon

/// An event of a headless view.
public enum HeadlessEvent: Hashable, Sendable {
    /// The image was set, or removed with `nil`.
    case image(ObjectIdentifier?)
    /// An overlay was added.
    case overlayAdded(ObjectIdentifier)
    /// An overlay was removed.
    case overlayRemoved(ObjectIdentifier)
    /// A transition began.
    case transitionBegan(seconds: Double, ImageTransition.AnimationOptions)
    /// The last transition ended.
    case transitionEnded
    /// The view was shown or hidden.
    case hidden(Bool)

    /// Whether an image was set.
    public var isImage: Bool { if case .image(.some) = self { true } else { false } }

    /// The event of setting `image`.
    public static func shows(_ image: KFCrossPlatformImage?) -> HeadlessEvent {
        .image(image.map { ObjectIdentifier($0) })
    }
}

/// The events of a headless view, with their times.
@MainActor public final class HeadlessRecord {
    /// An event and its time.
    public struct Entry: Hashable, Sendable {
        /// The time of the event by the clock.
        public var time: Duration
        /// The event.
        public var event: HeadlessEvent
    }

    private let clock: ManualClock
    private let list = Recorder<Entry>()

    public init(clock: ManualClock) {
        self.clock = clock
    }

    /// The events so far, with their times.
    public var entries: [Entry] { list.events }

    /// The events so far.
    public var events: [HeadlessEvent] { entries.map(\.event) }

    /// Records an event at the clock's time.
    public func record(_ event: HeadlessEvent) {
        list.record(Entry(time: clock.now.offset, event: event))
    }

    /// Removes all entries.
    public func removeAll() {
        list.removeAll()
    }

    /// Waits until `condition` holds for the events so far; returns at once when cancelled.
    public func wait(until condition: @Sendable ([HeadlessEvent]) -> Bool) async {
        await list.wait { condition($0.map(\.event)) }
    }
}
