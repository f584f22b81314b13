import HalcyonWork

extension ImageRequest {
    /// Runs attempts until one succeeds or none is left; returns the image to deliver, or the
    /// error.
    consuming func run() async -> Result<RetrieveImageResult, KingfisherError> {
        var attempt = self
        let announcement = attempt.options.makeAnnouncement()
        if announcement != nil { attempt.options.announcement = announcement }
        var result: Result<RetrieveImageResult, KingfisherError>
        do throws(KingfisherError) {
            result = .success(try await attempt.image())
        } catch {
            result = await attempt.recovered(from: error)
        }
        // Unless the size was already known from the first bytes.
        if let announcement, case .success(let value) = result {
            announcement.tell(value.image.pixelSize)
        }
        if let events = attempt.options.events { events.note(end: result) }
        return result
    }

    /// Returns the outcome of further attempts, after this one, the first, has failed.
    private consuming func recovered(
        from failure: KingfisherError
    ) async -> Result<RetrieveImageResult, KingfisherError> {
        var attempt = self
        var recovery = FailureRecovery(attempt.options)
        var context: RetryContext?
        var error = failure
        while true {
            do throws(KingfisherError) {
                attempt = try await attempt.next(after: error, &recovery, &context)
            } catch {
                return .failure(error)
            }
            do throws(KingfisherError) {
                return .success(try await attempt.image())
            } catch let failure {
                error = failure
            }
        }
    }

    /// Returns the attempt after this one, which ended with `error`. Throws the request's error if
    /// there is none.
    private func next(
        after error: KingfisherError, _ recovery: inout FailureRecovery,
        _ context: inout RetryContext?
    ) async throws(KingfisherError) -> ImageRequest {
        guard isCurrent?() ?? true else { throw error }
        if !handle.hasRememberedError, let strategy = recovery.strategy(for: error) {
            let history = context ?? RetryContext(source: originalSource, error: error)
            history.error = error
            context = history
            let decision = await decision(of: strategy, on: history)
            if handle.isCancelled { throw cancellation }
            if case .retry(let userInfo) = decision, isCurrent?() ?? true {
                history.willRetry(userInfo: userInfo)
                return replacement(loading: source)
            }
        }
        switch recovery.fallback(after: error, of: source) {
        case .load(let source): return replacement(loading: source)
        case .fail(let error): throw error
        }
    }

    /// Makes an attempt with a task of its own, which is cancelled with the request.
    private func replacement(loading source: Source) -> ImageRequest {
        var next = self
        options.events?.note(.retried(source))
        next.source = source.pinned
        next.imageKey = nil
        next.handle = handle.makeSuccessor()
        next.attempt = .replacement
        // The low-data fallback has already been reported.
        next.options.lowDataModeSource = nil
        return next
    }

    /// Returns the decision of `strategy`; `nil` if the request is cancelled meanwhile.
    private func decision(of strategy: any RetryStrategy, on context: RetryContext) async
        -> RetryDecision?
    {
        let answer = OneShot<RetryDecision?>()
        handle.onCancel(before: answer) { answer.give(nil) }
        strategy.retry(context: context) { answer.give($0) }
        return await answer.value
    }
}

/// Decides the next step after a failed attempt of a request: a pure value, so that the order can
/// be read (and tested) without a network.
///
/// The order: cancelled → retry strategy → low-data source → next alternative → the error.
struct FailureRecovery: Sendable {
    enum Fallback: Sendable {
        /// Loads another source instead.
        case load(Source)
        /// Fails with this error.
        case fail(KingfisherError)
    }

    private let retryStrategy: (any RetryStrategy)?
    private var lowDataSource: Source?
    private var alternatives: [Source]
    private var propagated: [PropagationError] = []

    init(_ options: KingfisherParsedOptionsInfo) {
        retryStrategy = options.retryStrategy
        lowDataSource = options.lowDataModeSource
        alternatives = options.alternativeSources ?? []
    }

    /// Returns the strategy that decides on a retry after `error`.
    func strategy(for error: KingfisherError) -> (any RetryStrategy)? {
        error.isCancelled ? nil : retryStrategy
    }

    /// Returns the next step if `source` failed with `error` and is not retried.
    mutating func fallback(after error: KingfisherError, of source: Source) -> Fallback {
        if error.isCancelled { return .fail(error) }
        if error.isForLowDataMode, let source = lowDataSource {
            lowDataSource = nil
            return .load(source)
        }
        if !alternatives.isEmpty {
            propagated.append(PropagationError(source: source, error: error))
            return .load(alternatives.removeFirst())
        }
        if propagated.isEmpty { return .fail(error) }
        let all = propagated + [PropagationError(source: source, error: error)]
        return .fail(.imageSettingError(reason: .alternativeSourcesExhausted(all)))
    }
}

extension KingfisherError {
    /// Whether the request was refused because of low data mode.
    fileprivate var isForLowDataMode: Bool {
        guard case .responseError(reason: .URLSessionError(let error)) = self,
            case .lowDataMode? = error as? ImageTransportError
        else { return false }
        return true
    }
}
