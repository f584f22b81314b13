/// What a prefetcher has done, is doing and has still to do.
///
/// Only decides: each change tells what to begin and what to report.
struct PrefetchPlan: Sendable {
    /// What became of a source.
    enum Outcome: Sendable {
        /// It was cached before.
        case skipped
        case failed(KingfisherError)
        case completed

        /// The outcome if the prefetcher was stopped before: what was cached has not been looked at
        /// to the end.
        var afterStop: Outcome { if case .skipped = self { .cutShort } else { self } }

        /// What a stop keeps from being done.
        static var cutShort: Outcome {
            .failed(.requestError(reason: .asyncTaskContextCancelled))
        }
    }

    /// A source that is done.
    struct Done: Sendable, Equatable {
        /// The list of the reports that names it.
        enum List: Sendable { case skipped, failed, completed }

        /// Its place among the sources.
        let index: Int
        let list: List
    }

    /// What follows a change.
    struct Step: Sendable {
        /// The sources to begin with, by their place in the list.
        var begins: [Int] = []
        /// Whether one more of the sources that are done is to be reported as progress.
        var hasProgress = false
        /// Whether the end is to be reported.
        var isEnd = false
        /// What the caller did wrong.
        var misuse: String?
    }

    let sources: [Source]
    /// The most sources in work at one time.
    var limit = 5
    private(set) var isStopped = false
    private(set) var isFinished = false
    private var isStarted = false
    private var next = 0
    private var running = 0
    /// The sources that are done, in the order they were. Reports name what is new in them, so that a long list
    /// is not copied for each.
    private(set) var done: [Done] = []
    /// The number of them that are reported as progress: all but those that were never begun with.
    private(set) var progressCount = 0
    /// Why the failed sources have failed, in the order of `done`, without those that were taken.
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

    /// A source that was begun with is done. What was cut short by a stop has failed.
    mutating func settle(_ index: Int, as outcome: Outcome) -> Step {
        running -= 1
        append(index, as: isStopped ? outcome.afterStop : outcome)
        progressCount += 1
        var step = advance()
        step.hasProgress = true
        return step
    }

    /// Begins nothing from now on; `false` when everything is done already.
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

    /// Removes the failures that were kept up to here.
    mutating func takeFailures() -> [PropagationError] {
        defer { failures.removeAll() }
        return failures
    }

    /// What was never begun with has failed.
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
