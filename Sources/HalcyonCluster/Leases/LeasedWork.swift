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

    package struct Publication: Sendable {
        /// Makes the content for a generation; `nil` when that fails.
        package let content: @Sendable (_ generation: Int64) async -> ByteBuffer?
        package let lifetime: Duration

        package init(
            lifetime: Duration, content: @escaping @Sendable (Int64) async -> ByteBuffer?
        ) {
            self.content = content
            self.lifetime = lifetime
        }
    }

    private let knowledge: any SharedKnowledge
    private let duration: Duration
    private let onEvent: @Sendable (Event) -> Void

    /// - Parameter duration: How long a lease lasts that nobody renews; so long may others wait in vain for a
    ///   node that has gone. It is renewed three times as often.
    package init(
        _ knowledge: any SharedKnowledge, duration: Duration,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.knowledge = knowledge
        self.duration = duration
        self.onEvent = onEvent
    }

    /// The value for a name: of another node, or made here.
    ///
    /// What is made here is published after this returns.
    /// - Parameters:
    ///   - marks: Those that count for it: no record is used that is not newer than all of them.
    ///   - stopped: Given when nobody waits here any longer. `making` has to look at it by itself.
    ///   - reading: What a record holds; `nil` when it is of no use here. Told the latest mark.
    ///   - making: Told the latest mark, too; `nil` when nobody could be asked for it.
    /// - Returns: `nil` when `stopped` was given before there was a value.
    package func value<Value: Sendable>(
        for name: String, marks: [String] = [], until stopped: OneShot<some Sendable>,
        reading: @Sendable (ByteBuffer, _ mark: Int64) async -> Value?,
        making: @Sendable (_ mark: Int64?) async -> Made<Value>
    ) async -> Value? {
        let lease = Lease(knowledge, name, duration)
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
            value = record.generation > mark ? await reading(record.content, mark) : nil
            return .found(generation: record.generation, isUsable: value != nil)
        }

        while let current = action {
            switch current {
            case .look:
                do throws(EngineError) {
                    let known = try await knowledge.record(name, marks: marks)
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
                news?.end()
                // From before the question on, so that no answer falls between.
                news = knowledge.news(of: name)
                do throws(EngineError) {
                    let answer = try await lease.acquire(
                        after: max(generation, mark ?? 0), marks: marks)
                    mark = answer.mark
                    switch answer.value {
                    case .acquired(let generation):
                        onEvent(.acquired)
                        action = turn.next(.acquired(generation: generation))
                    case .held(let time):
                        remaining = time
                        action = turn.next(.held)
                    case .published(let record):
                        action = turn.next(await found(record, answer.mark))
                    }
                } catch {
                    // It may have been given all the same, and others would wait for it to its end.
                    lease.release()
                    onEvent(.unavailable)
                    action = turn.next(.unavailable)
                }
            case .wait(let attempt):
                if attempt == 0 { onEvent(.waited) }
                let isStopped = await wait(
                    for: news, attempt: attempt, atMost: remaining, until: stopped)
                action = turn.next(isStopped ? .stopped : .woken)
            case .make(let generation):
                if generation != nil { lease.keep() }
                let made = await making(mark)
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
            knowledge.hearsNews
            ? Duration.milliseconds(250) : .milliseconds(min(250, 25 << min(attempt, 4)))
        return await place.value(
            until: .now + min(end, poll), on: MultiThreadedEventLoopGroup.singleton.any(),
            else: false)
    }

    private func publish(
        _ publication: Publication, as generation: Int64, with lease: Lease
    ) {
        Task { [knowledge, onEvent] in
            defer { lease.end() }
            guard let content = await publication.content(generation) else {
                return lease.release()
            }
            do throws(EngineError) {
                let isPublished = try await knowledge.publish(
                    SharedRecord(generation: generation, content: content), as: lease.name,
                    token: lease.token, lifetime: publication.lifetime)
                onEvent(isPublished ? .published : .refused)
            } catch {
                // The lease ends by itself.
                onEvent(.unavailable)
            }
        }
    }
}

/// A lease of one piece of work, which is renewed as long as that goes on.
private final class Lease: Sendable {
    private enum State {
        case none
        case kept(Task<Void, Never>)
        case lost
        case ended
    }

    let name: String
    let token = "\(UInt64.random(in: 0...UInt64.max))-\(UInt64.random(in: 0...UInt64.max))"
    private let knowledge: any SharedKnowledge
    private let duration: Duration
    private let state = Mutex(State.none)

    init(_ knowledge: any SharedKnowledge, _ name: String, _ duration: Duration) {
        self.knowledge = knowledge
        self.name = name
        self.duration = duration
    }

    var isLost: Bool { state.withLock { if case .lost = $0 { true } else { false } } }

    func acquire(
        after generation: Int64, marks: [String]
    ) async throws(EngineError) -> Marked<Acquisition> {
        try await knowledge.acquire(
            name, token: token, for: duration, after: generation, marks: marks)
    }

    /// Renews it until it has ended.
    func keep() {
        let task = Task { [weak self, knowledge, name, token, duration] in
            while true {
                do {
                    try await Task.sleep(for: duration / 3)
                } catch {
                    return
                }
                do throws(EngineError) {
                    guard try await knowledge.renew(name, token: token, for: duration) else {
                        self?.lose()
                        return
                    }
                } catch {
                    // Perhaps it is still held; who publishes is asked for the token.
                }
            }
        }
        state.withLock { $0 = .kept(task) }
    }

    private func lose() {
        state.withLock { if case .kept = $0 { $0 = .lost } }
    }

    /// No longer renews it.
    func end() {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard case .kept(let task) = state else { return nil }
            state = .ended
            return task
        }
        task?.cancel()
    }

    /// Gives it back.
    func release() {
        end()
        Task { [knowledge, name, token] in
            // Otherwise it ends by itself.
            try? await knowledge.release(name, token: token)
        }
    }
}
