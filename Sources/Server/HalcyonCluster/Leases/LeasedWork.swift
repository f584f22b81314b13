package import HalcyonWork
package import NIOCore
import NIOPosix
import Synchronization

/// Has a value made by one node for all that want it at the same time, if they reach each other.
///
/// A failing engine costs its time limit and nothing else: the value is then made here.
///
/// Not a `WorkTable`, which shares within a process: callers of one node share before they get here.
package final class LeasedWork: Sendable {
    package enum Event: String, Sendable, CaseIterable {
        /// Another node had published the value.
        case found
        case acquired
        /// Another node held it.
        case waited
        /// The lease ended before the work did.
        case lost
        case published
        /// The lease had ended, or there was a newer record.
        case refused
        /// The content of a published record was extended.
        case amended
        case unavailable
    }

    package struct Made<Value: Sendable>: Sendable {
        package let value: Value
        /// `nil` when the value cannot be shared.
        package let publication: Publication?

        package init(_ value: Value, publication: Publication?) {
            self.value = value
            self.publication = publication
        }
    }

    /// A lookup that found no record, or only one older than a mark.
    package struct EmptyGlance: Sendable {
        fileprivate let mark: Int64
        fileprivate let event: LeaseTurn.Event

        fileprivate init(outdated record: SharedRecord?, mark: Int64) {
            self.mark = mark
            event =
                record.map { .found(generation: $0.generation, isUsable: false) } ?? .nothingFound
        }
    }

    package struct Publication: Sendable {
        package let lifetime: Duration
        /// Whether making the content has effects elsewhere: then the lease is renewed first, so
        /// that a node with an expired lease has no such effects.
        package let leavesSomething: Bool
        package let content: @Sendable (_ generation: Int64) async -> ByteBuffer
        /// The action after publishing, and only then.
        package let afterwards: (@Sendable (_ generation: Int64) async -> Void)?

        package init(
            lifetime: Duration, leavesSomething: Bool = false,
            afterwards: (@Sendable (Int64) async -> Void)? = nil,
            content: @escaping @Sendable (Int64) async -> ByteBuffer
        ) {
            self.lifetime = lifetime
            self.leavesSomething = leavesSomething
            self.afterwards = afterwards
            self.content = content
        }
    }

    private let store: any LeaseStore
    private let duration: Duration
    private let time: TimeSource
    private let keeper: LeaseKeeper
    private let onEvent: @Sendable (Event) -> Void

    /// - Parameter duration: The lifetime of a lease without renewal, which is also the longest
    ///   that other nodes wait for a node that is gone. It is renewed three times as often.
    package init(
        _ store: any LeaseStore, duration: Duration, time: TimeSource = .system,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.store = store
        self.duration = duration
        self.time = time
        keeper = LeaseKeeper(store, duration, time)
        self.onEvent = onEvent
    }

    /// The value for a name: of another node, or made here.
    ///
    /// A value made here is published after returning.
    /// - Parameters:
    ///   - marks: The relevant marks: only a record newer than all of them is used.
    ///   - glance: The result of a recent lookup that found nothing; `nil` without one.
    ///   - takesLeaseAtOnce: Whether the first round trip acquires the lease where nothing is
    ///     published: saves one for names that usually have no record.
    ///   - stopped: Given when no caller waits here any longer. `making` has to check it by itself.
    ///   - reading: Reads a record; `nil` when it is not usable here. Receives the latest mark.
    ///   - making: Receives the latest mark, too, and the generation that the value is published
    ///     as; `nil` when the engine was unavailable.
    /// - Returns: `nil` when `stopped` was given before there was a value.
    package func value<Value: Sendable>(
        for name: String, marks: [String] = [], after glance: EmptyGlance? = nil,
        takingLeaseAtOnce takesLeaseAtOnce: Bool = false,
        until stopped: OneShot<some Sendable>,
        reading: @Sendable (SharedRecord, _ mark: Int64) async -> Value?,
        making: @Sendable (_ mark: Int64?, _ generation: Int64?) async -> Made<Value>
    ) async -> Value? {
        let lease = Lease(name, keeper)
        var turn = LeaseTurn()
        var action: LeaseTurn.Action? = turn.first
        var value: Value?
        var publication: Publication?
        var news: News?
        defer { news?.end() }
        var remaining = duration
        var mark: Int64?

        /// The event of a record; keeps its value.
        func found(_ record: SharedRecord?, _ mark: Int64) async -> LeaseTurn.Event {
            guard let record else { return .nothingFound }
            value = record.generation > mark ? await reading(record, mark) : nil
            return .found(generation: record.generation, isUsable: value != nil)
        }

        func acquire(after generation: Int64) async -> LeaseTurn.Event {
            news?.end()
            // Subscribed before the request, so that no change in between is missed.
            news = store.news(of: name)
            do throws(EngineError) {
                let answer = try await store.acquire(
                    name, token: lease.token, for: duration, after: generation, marks: marks)
                mark = answer.mark
                switch answer.value {
                case .acquired(let generation):
                    onEvent(.acquired)
                    return .acquired(generation: generation)
                case .held(let time):
                    remaining = time
                    return .held
                case .published(let record):
                    return await found(record, answer.mark)
                }
            } catch {
                // It may have been acquired all the same, and others would wait for it to its end.
                lease.release()
                onEvent(.unavailable)
                return .unavailable
            }
        }

        while let current = action {
            switch current {
            case .look where glance != nil:
                mark = glance?.mark
                action = glance.flatMap { turn.next($0.event) }
            case .look where takesLeaseAtOnce:
                let event = await acquire(after: 0)
                switch event {
                case .acquired(let generation) where generation <= mark ?? 0:
                    // A clock was set back: a second attempt gets a generation newer than the mark.
                    action = turn.next(.nothingFound)
                case .acquired, .held:
                    _ = turn.next(.nothingFound)
                    action = turn.next(event)
                default:
                    action = turn.next(event)
                }
            case .look:
                guard let known = await record(name, marks) else {
                    action = turn.next(.unavailable)
                    break
                }
                mark = known.mark
                action = turn.next(await found(known.value, known.mark))
            case .acquire(let generation):
                action = turn.next(await acquire(after: max(generation, mark ?? 0)))
            case .wait(let attempt):
                if attempt == 0 { onEvent(.waited) }
                let isStopped = await wait(
                    for: news, attempt: attempt, atMost: remaining, until: stopped)
                action = turn.next(isStopped ? .stopped : .woken)
            case .make(let generation):
                if generation != nil { lease.keep() }
                let made = await making(mark, generation)
                value = made.value
                publication = made.publication
                if lease.isLost {
                    onEvent(.lost)
                    _ = turn.next(.lost)
                }
                action = turn.next(.made(isPublishable: publication != nil))
            case .publish(let generation):
                // From here on the lease belongs to the publishing task.
                if let publication { publish(publication, as: generation, with: lease) }
                return value
            case .release:
                lease.release()
                return value
            case .use:
                onEvent(.found)
                return value
            case .finish:
                lease.end()
                return value
            case .leave:
                return nil
            }
        }
        return value
    }

    /// The value for a name as published by another node; makes nothing, and waits for no holder.
    ///
    /// - Parameter reading: Reads a record, with the latest mark; `nil` when it is not usable here.
    /// - Returns: The value, if there is one; otherwise the empty lookup, which saves repeating it,
    ///   and is `nil` when the engine was unavailable or the record was not usable for `reading`.
    package func glance<Value: Sendable>(
        at name: String, marks: [String] = [],
        reading: @Sendable (SharedRecord, _ mark: Int64) async -> Value?
    ) async -> (value: Value?, empty: EmptyGlance?) {
        guard let known = await record(name, marks) else { return (nil, nil) }
        guard let record = known.value, record.generation > known.mark else {
            return (nil, EmptyGlance(outdated: known.value, mark: known.mark))
        }
        guard let value = await reading(record, known.mark) else { return (nil, nil) }
        onEvent(.found)
        return (value, nil)
    }

    /// The latest of the relevant marks of a name; `nil` when the engine was unavailable.
    package func mark(of name: String, among marks: [String]) async -> Int64? {
        await record(name, marks)?.mark
    }

    /// The record of a name; `nil` when the engine was unavailable.
    private func record(_ name: String, _ marks: [String]) async -> Marked<SharedRecord?>? {
        do throws(EngineError) {
            return try await store.record(name, marks: marks)
        } catch {
            onEvent(.unavailable)
            return nil
        }
    }

    /// Replaces the content of a record that is still of the same generation, in the background.
    package func amend(_ record: SharedRecord, of name: String, lifetime: Duration) {
        Task { [store, onEvent] in
            do throws(EngineError) {
                if try await store.amend(record, of: name, lifetime: lifetime) { onEvent(.amended) }
            } catch {
                onEvent(.unavailable)
            }
        }
    }

    /// Waits for news or the next poll; returns whether the wait was stopped.
    private func wait(
        for news: News?, attempt: Int, atMost remaining: Duration,
        until stopped: OneShot<some Sendable>
    ) async -> Bool {
        let place = OneShot<Bool>()
        stopped.whenGiven { _ in place.give(true) }
        news?.arrival.whenGiven { place.give(false) }
        // A little after the end of the lease, at a random time for each node.
        let end = remaining + .milliseconds(Int.random(in: 5...30))
        let poll =
            store.hearsNews
            ? Duration.milliseconds(250) : .milliseconds(min(250, 25 << min(attempt, 4)))
        return await place.value(
            until: time.now + min(end, poll), by: time,
            on: MultiThreadedEventLoopGroup.singleton.any(), else: false)
    }

    private func publish(_ publication: Publication, as generation: Int64, with lease: Lease) {
        Task { [store, onEvent] in
            let isPublished: Bool
            do throws(EngineError) {
                // The lease ends by itself where something fails.
                defer { lease.end() }
                if publication.leavesSomething, try await !lease.isRenewed() {
                    return onEvent(.refused)
                }
                isPublished = try await store.publish(
                    SharedRecord(
                        generation: generation, content: await publication.content(generation)),
                    as: lease.name, token: lease.token, lifetime: publication.lifetime)
            } catch {
                return onEvent(.unavailable)
            }
            onEvent(isPublished ? .published : .refused)
            if isPublished { await publication.afterwards?(generation) }
        }
    }
}
