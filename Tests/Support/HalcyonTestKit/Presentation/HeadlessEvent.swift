public import Halcyon

/// An event of a headless view.
public enum HeadlessEvent: Hashable, Sendable {
    case image(ObjectIdentifier?)
    case overlayAdded(ObjectIdentifier)
    case overlayRemoved(ObjectIdentifier)
    case transitionBegan(seconds: Double, ImageTransition.AnimationOptions)
    case transitionEnded
    case hidden(Bool)

    public var isImage: Bool { if case .image(.some) = self { true } else { false } }

    public static func shows(_ image: KFCrossPlatformImage?) -> HeadlessEvent {
        .image(image.map { ObjectIdentifier($0) })
    }
}

/// The events of a headless view, with their times.
@MainActor public final class HeadlessRecord {
    public struct Entry: Hashable, Sendable {
        /// The time of the event by the clock.
        public var time: Duration
        public var event: HeadlessEvent
    }

    private let clock: ManualClock
    private let list = Recorder<Entry>()

    public init(clock: ManualClock) { self.clock = clock }

    public var entries: [Entry] { list.events }

    public var events: [HeadlessEvent] { entries.map(\.event) }

    /// Records an event at the clock's time.
    public func record(_ event: HeadlessEvent) {
        list.record(Entry(time: clock.now.offset, event: event))
    }

    public func removeAll() { list.removeAll() }

    /// Waits until `condition` holds for the events so far; returns at once when cancelled.
    public func wait(until condition: @Sendable ([HeadlessEvent]) -> Bool) async {
        await list.wait { condition($0.map(\.event)) }
    }
}
