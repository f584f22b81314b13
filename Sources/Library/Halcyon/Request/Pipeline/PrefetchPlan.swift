/// The state of a prefetcher: finished, running and pending sources.
///
/// Only decides: each change returns what to begin and what to report. Not a `WorkTable`: it limits
/// different work, and equal work is shared by the requests.
struct PrefetchPlan: Sendable {
    enum Outcome: Sendable {
        case skipped
        case failed(KingfisherError)
        case completed

        /// The outcome if the prefetcher was stopped before: the search for a cached source was not
        /// completed.
        var afterStop: Outcome { if case .skipped = self { .cutShort } else { self } }

        static var cutShort: Outcome {
            .failed(.requestError(reason: .asyncTaskContextCancelled))
        }
    }

    struct Done: Sendable, Equatable {
        /// The list of the reports that contains it.
        enum List: Sendable { case skipped, failed, completed }

        let index: Int
        let list: List
    }

    struct Step: Sendable {
        var begins: [Int] = []
        /// Whether to report one more finished source as progress.
        var hasProgress = false
        var isEnd = false
        var misuse: String?
    }

    let sources: [Source]
    /// The maximum number of sources in work at one time.
    var limit = 5
    private(set) var isStopped = false
    private(set) var isFinished = false
    private var isStarted = false
    private var next = 0
    private var running = 0
    /// The finished sources, in the order of their ends. Reports contain only the new ones, so that
    /// a long list is not copied for each.
    private(set) var done: [Done] = []
    /// The number of finished sources reported as progress: all but those never begun.
    private(set) var progressCount = 0
    /// The errors of the failed sources, in the order of `done`, without those already taken.
    private(set) var failures: [PropagationError] = []

    init(_ sources: [Source]) {
        self.sources = sources
    }

    mutating func start() -> Step {
        if isFinished || isStarted {
            return Step(misuse: "A prefetcher can be started once; make a new one.")
        }
        isStarted = true
        if isStopped {
            return finish(misuse: "A prefetcher cannot be started after stop(); make a new one.")
        }
        if limit <= 0 {
            return finish(misuse: "maxConcurrentDownloads is \(limit); nothing can be prefetched.")
        }
        return advance()
    }

    /// Ends a source that was begun. One interrupted by a stop has failed.
    mutating func settle(_ index: Int, as outcome: Outcome) -> Step {
        running -= 1
        append(index, as: isStopped ? outcome.afterStop : outcome)
        progressCount += 1
        var step = advance()
        step.hasProgress = true
        return step
    }

    /// Begins nothing from now on; `false` if everything is already finished.
    mutating func stop() -> Bool {
        guard !isFinished, !isStopped else { return false }
        isStopped = true
        return true
    }

    private mutating func advance() -> Step {
        var step = Step()
        while !isStopped, next < sources.count, running < max(1, limit) {
            step.begins.append(next)
            next += 1
            running += 1
        }
        return running == 0 ? finish() : step
    }

    mutating func takeFailures() -> [PropagationError] {
        defer { failures.removeAll() }
        return failures
    }

    /// Ends the plan; sources never begun have failed.
    private mutating func finish(misuse: String? = nil) -> Step {
        isFinished = true
        for index in next..<sources.count { append(index, as: .cutShort) }
        next = sources.count
        return Step(isEnd: true, misuse: misuse)
    }

    private mutating func append(_ index: Int, as outcome: Outcome) {
        switch outcome {
        case .skipped: done.append(Done(index: index, list: .skipped))
        case .completed: done.append(Done(index: index, list: .completed))
        case .failed(let error):
            done.append(Done(index: index, list: .failed))
            failures.append(PropagationError(source: sources[index], error: error))
        }
    }
}
