/// Decides how one node obtains a value that only one of several nodes is to make: from another
/// node's record, by making and publishing it under a lease, or, if the store is unavailable, by
/// making it for itself alone.
///
/// Feed it events and perform its actions. A lease ends by itself when its holder is gone or too
/// slow; the value of such a holder is for itself and is never published, which the store of the
/// leases checks, too.
package struct LeaseTurn: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case look
        /// Acquire the lease, unless something newer than this generation has been published.
        case acquire(after: Int64)
        /// Wait for news of the holder or the next poll; `attempt` counts the waits before.
        case wait(attempt: Int)
        /// Make the value, to be published as generation `holding`; `nil` without a lease.
        case make(holding: Int64?)
        case publish(generation: Int64)
        /// Release the lease, and finish with the made value, if any.
        case release
        case use
        case finish
        case leave
    }

    package enum Event: Hashable, Sendable {
        /// A record was found. The caller decides whether it is usable.
        case found(generation: Int64, isUsable: Bool)
        case nothingFound
        case acquired(generation: Int64)
        case held
        case unavailable
        /// There is news, or the next poll is due.
        case woken
        case lost
        case made(isPublishable: Bool)
        /// Publishing is over, whether it succeeded or not.
        case published
        /// No caller waits for the value here.
        case stopped
    }

    private enum Phase: Hashable {
        case looking
        case acquiring(after: Int64, attempt: Int)
        case waiting(after: Int64, attempt: Int)
        case making(generation: Int64)
        /// Making the value without a lease, or after losing it.
        case makingAlone
        case publishing
        case done
    }

    private var phase = Phase.looking

    package init() {}

    package var first: Action { .look }

    package var isDone: Bool { phase == .done }

    /// Returns the action after `event`; `nil` for none.
    package mutating func next(_ event: Event) -> Action? {
        switch (phase, event) {
        case (.looking, .found(let generation, let isUsable)):
            return isUsable ? end(.use) : acquire(after: generation, attempt: 0)
        case (.looking, .nothingFound):
            return acquire(after: 0, attempt: 0)
        case (.acquiring, .found(_, let isUsable)):
            // Newer than what had been seen, and of no use here: others would have nothing of ours, either.
            return isUsable ? end(.use) : makeAlone()
        case (.acquiring, .acquired(let generation)):
            phase = .making(generation: generation)
            return .make(holding: generation)
        case (.acquiring(let after, let attempt), .held):
            phase = .waiting(after: after, attempt: attempt)
            return .wait(attempt: attempt)
        case (.looking, .unavailable), (.acquiring, .unavailable):
            return makeAlone()
        case (.waiting(let after, let attempt), .woken):
            return acquire(after: after, attempt: attempt + 1)
        case (.waiting, .stopped):
            return end(.leave)
        case (.making, .lost):
            phase = .makingAlone
            return nil
        case (.making(let generation), .made(let isPublishable)):
            guard isPublishable else { return end(.release) }
            phase = .publishing
            return .publish(generation: generation)
        case (.makingAlone, .made):
            return end(.finish)
        case (.publishing, .published), (.publishing, .unavailable):
            return end(.finish)
        default:
            return nil
        }
    }

    private mutating func acquire(after generation: Int64, attempt: Int) -> Action {
        phase = .acquiring(after: generation, attempt: attempt)
        return .acquire(after: generation)
    }

    private mutating func makeAlone() -> Action {
        phase = .makingAlone
        return .make(holding: nil)
    }

    private mutating func end(_ action: Action) -> Action {
        phase = .done
        return action
    }
}
