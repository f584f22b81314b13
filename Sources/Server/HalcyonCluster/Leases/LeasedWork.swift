package import HalcyonWork
package import NIOCore
import NIOPosix
import Synchronization

/// Has a value made by one node for all that want it at the same time, as far as they can reach each other.
///
/// An engine that fails costs its time limit and nothing else: the value is then made here.
package final class LeasedWork: Sendable {
    /// What happens to leases and records; for metrics.
    package enum Event: String, Sendable, CaseIterable {
        /// Another node had published what was wanted.
        case found
        /// The lease was taken.
        case acquired
        /// Another node held it.
        case waited
        /// It ended before the work did.
        case lost
        case published
        /// The lease had passed, or there was something newer.
        case refused
        /// What was published says more than it did.
        case amended
        /// The engine could not be asked.
        case unavailable
    }

    /// A value that was made, and what others get of it.
    package struct Made<Value: Sendable>: Sendable {
        package let value: Value
        /// `nil` when others can have nothing of it.
        package let publication: Publication?

        package init(_ value: Value, publication: Publication?) {
            self.value = value
            self.publication = publication
        }
    }

    /// A look that has found nothing, or only what was older than a mark.
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
        /// Whether making the content leaves something elsewhere: then the lease is renewed first, so that nobody
        /// does that whose lease has passed.
        package let leavesSomething: Bool
        /// Makes the content for a generation.
        package let content: @Sendable (_ generation: Int64) async -> ByteBuffer
        /// What is done when it has been published, and only then.
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

    /// - Parameter duration: How long a lease lasts that nobody renews; so long may others wait in vain for a
    ///   node that has gone. It is renewed three times as often.
    package init(
        _ store: any LeaseStore, duration: Duration, time: TimeSource = .system,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.store = store
        self.duration = duration
        self.time = time
        keeper = LeaseKeeper(duration, time)
        self.onEvent = onEvent
    }

    /// The value for a name: of another node, or made here.
    ///
    /// What is made here is published after this returns.
    /// - Parameters:
    ///   - marks: Those that count for it: no record is used that is not newer than all of them.
    ///   - glance: What a look has told a moment ago, if that was nothing; there is none then.
    ///   - takesLeaseAtOnce: Whether the first question takes the lease where nothing is published: one question less
    ///     for what mostly is not.
    ///   - stopped: Given when nobody waits here any longer. `making` has to look at it by itself.
    ///   - reading: What a record holds; `nil` when it is of no use here. Told the latest mark.
    ///   - making: Told the latest mark, too, and the generation that the value is published as; `nil` when nobody
    ///     could be asked for them.
    /// - Returns: `nil` when `stopped` was given before there was a value.
    package func value<Value: Sendable>(
        for name: String, marks: [String] = [], after glance: EmptyGlance? = nil,
        takingLeaseAtOnce takesLeaseAtOnce: Bool = false,
        until stopped: OneShot<some Sendable>,
        reading: @Sendable (SharedRecord, _ mark: Int64) async -> Value?,
        making: @Sendable (_ mark: Int64?, _ generation: Int64?) async -> Made<Value>
    ) async -> Value? {
        let lease = Lease(store, name, duration, keeper)
        var turn = LeaseTurn()
        var action: LeaseTurn.Action? = turn.first
        var value: Value?
        var publication: Publication?
        var news: News?
        defer { news?.end() }
        var remaining = duration
        var mark: Int64?

        /// What a record is to the turn; keeps the value.
        func found(_ record: SharedRecord, _ mark: Int64) async -> LeaseTurn.Event {
            value = record.generation > mark ? await reading(record, mark) : nil
            return .found(generation: record.generation, isUsable: value != nil)
        }

        func acquire(after generation: Int64) async -> LeaseTurn.Event {
            news?.end()
            // From before the question on, so that no answer falls between.
            news = store.news(of: name)
            do throws(EngineError) {
                let answer = try await lease.acquire(after: generation, marks: marks)
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
                // It may have been given all the same, and others would wait for it to its end.
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
                    // A clock was set back: asked again, the lease is for one that is newer than the mark.
                    action = turn.next(.nothingFound)
                case .acquired, .held:
                    _ = turn.next(.nothingFound)
                    action = turn.next(event)
                default:
                    action = turn.next(event)
                }
            case .look:
                do throws(EngineError) {
                    let known = try await store.record(name, marks: marks)
                    mark = known.mark
                    if let record = known.value {
                        action = turn.next(await found(record, known.mark))
                    } else {
                        action = turn.next(.nothingFound)
                    }
                } catch {
                    onEvent(.unavailable)
                    action = turn.next(.unavailable)
                }
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
                // The end of the turn is the task's.
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

    /// The value for a name as another node has published it; nothing is made, and nobody waited for.
    ///
    /// - Parameter reading: What a record holds; `nil` when it is of no use here. Told the latest mark.
    /// - Returns: The value, if there is one; otherwise what need not be asked again at once, which is not known
    ///   when nobody could be asked, or when there was a record without use for `reading`.
    package func glance<Value: Sendable>(
        at name: String, marks: [String] = [],
        reading: @Sendable (SharedRecord, _ mark: Int64) async -> Value?
    ) async -> (value: Value?, empty: EmptyGlance?) {
        do throws(EngineError) {
            let known = try await store.record(name, marks: marks)
            guard let record = known.value, record.generation > known.mark else {
                return (nil, EmptyGlance(outdated: known.value, mark: known.mark))
            }
            guard let value = await reading(record, known.mark) else { return (nil, nil) }
            onEvent(.found)
            return (value, nil)
        } catch {
            onEvent(.unavailable)
            return (nil, nil)
        }
    }

    /// The latest of some marks that count for a name; `nil` when nobody could be asked.
    package func mark(of name: String, among marks: [String]) async -> Int64? {
        do throws(EngineError) {
            return try await store.record(name, marks: marks).mark
        } catch {
            onEvent(.unavailable)
            return nil
        }
    }

    /// Puts other content into a record, as long as that is of the same generation. This does not wait for it.
    package func amend(_ record: SharedRecord, of name: String, lifetime: Duration) {
        Task { [store, onEvent] in
            do throws(EngineError) {
                if try await store.amend(record, of: name, lifetime: lifetime) {
                    onEvent(.amended)
                }
            } catch {
                onEvent(.unavailable)
            }
        }
    }

    /// Waits for news, or until it is time to ask without any.
    ///
    /// - Returns: Whether nobody waits any longer.
    private func wait(
        for news: News?, attempt: Int, atMost remaining: Duration,
        until stopped: OneShot<some Sendable>
    ) async -> Bool {
        let place = OneShot<Bool>()
        stopped.whenGiven { _ in place.give(true) }
        news?.arrival.whenGiven { place.give(false) }
        // A little after the lease has ended by itself, and not all at once.
        let end = remaining + .milliseconds(Int.random(in: 5...30))
        let poll =
            store.hearsNews
            ? Duration.milliseconds(250) : .milliseconds(min(250, 25 << min(attempt, 4)))
        return await place.value(
            until: time.now + min(end, poll), by: time,
            on: MultiThreadedEventLoopGroup.singleton.any(), else: false)
    }

    private func publish(
        _ publication: Publication, as generation: Int64, with lease: Lease
    ) {
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
