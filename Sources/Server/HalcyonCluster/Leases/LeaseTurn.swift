/// Decides how one node comes to a value that only one of several nodes is to make: by what another has
/// published, by making and publishing it under a lease, or, where nobody can be asked, by making it for
/// itself alone.
///
/// Feed it what has happened, do what it says. A lease ends by itself when its holder is gone or too slow;
/// what such a holder has made is its own affair and is never published, which the store of the leases
/// checks, too.
package struct LeaseTurn: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Read what is published.
        case look
        /// Take the lease, unless something newer than this generation has been published.
        case acquire(after: Int64)
        /// Wait until there is news of the holder, or it is time to look; this often it has been done.
        case wait(attempt: Int)
        /// Make the value. `holding` is the generation it would be published as; without a lease `nil`.
        case make(holding: Int64?)
        case publish(generation: Int64)
        /// Give the lease back, and be done with what was made, if anything was.
        case release
        /// Be done with what was published.
        case use
        /// Be done with what was made.
        case finish
        /// Be done without a value.
        case leave
    }

    package enum Event: Hashable, Sendable {
        /// Something is published. Whether it is of use here is the caller's business.
        case found(generation: Int64, isUsable: Bool)
        case nothingFound
        case acquired(generation: Int64)
        /// Somebody else holds the lease.
        case held
        /// Those who know of leases could not be asked.
        case unavailable
        /// There is news, or it is time to look.
        case woken
        /// The lease is not ours any longer.
        case lost
        case made(isPublishable: Bool)
        /// The value was published, or was not: the end is the same.
        case published
        /// Nobody waits for the value here.
        case stopped
    }

    private enum Phase: Hashable {
        case looking
        case acquiring(after: Int64, attempt: Int)
        case waiting(after: Int64, attempt: Int)
        case making(generation: Int64)
        /// Without a lease, or no longer with one.
        case makingAlone
        case publishing
        case done
    }

    private var phase = Phase.looking

    package init() {}

    /// What is done first.
    package var first: Action { .look }

    package var isDone: Bool { phase == .done }

    /// What is to be done after `event`; `nil` when that changes nothing now.
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
