import HalcyonWork

/// A list of events from any thread, whose growth can be awaited.
public final class Recorder<Event: Sendable>: Sendable {
    private let list = Observed<[Event]>([])

    public init() {}

    /// The events so far, in the order they were recorded.
    public var events: [Event] { list.value }

    /// The number of events so far.
    public var count: Int { list.value.count }

    /// Appends an event.
    public func record(_ event: Event) {
        list.update { $0.append(event) }
    }

    /// Forgets the events so far.
    public func removeAll() {
        list.update { $0 = [] }
    }

    /// Waits until there are at least `count` events.
    ///
    /// - Returns: The events then; when the task is cancelled, those so far.
    @discardableResult
    public func waitFor(count: Int) async -> [Event] {
        await wait { $0.count >= count }
    }

    /// Waits until `condition` holds for the events.
    ///
    /// - Returns: The events then; when the task is cancelled, those so far.
    @discardableResult
    public func wait(until condition: @Sendable ([Event]) -> Bool) async -> [Event] {
        await list.wait(until: condition) ?? list.value
    }
}
