import HalcyonWork

extension ImageRequest {
    /// The delivered image, or why there is none: attempts until one succeeds or nothing is left to
    /// try.
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
        // Unless its first bytes have told it.
        if let announcement, case .success(let value) = result {
            announcement.tell(value.image.pixelSize)
        }
        if let events = attempt.options.events { events.note(end: result) }
        return result
    }

    /// What the further attempts come to after this one, the first, has failed.
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

    /// The attempt that follows this one, which ended with `error`. Throws what the request ends with
    /// when none does.
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

    /// An attempt with a task of its own that ends when the request is cancelled.
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

    /// What `strategy` decides; `nil` when the request is cancelled while it thinks.
    private func decision(of strategy: any RetryStrategy, on context: RetryContext) async
        -> RetryDecision?
    {
        let answer = OneShot<RetryDecision?>()
        handle.onCancel(before: answer) { answer.give(nil) }
        strategy.retry(context: context) { answer.give($0) }
        return await answer.value
    }
}

/// Decides what follows a failed attempt of a request: nothing but a value, so that the order can be
/// read (and tested) without a network.
///
/// The order: cancelled → retry strategy → low-data source → next alternative → the error.
struct FailureRecovery: Sendable {
    enum Fallback: Sendable {
        /// Load another source instead.
        case load(Source)
        /// Fail with this error.
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

    /// Who is to be asked whether to try again after `error`.
    func strategy(for error: KingfisherError) -> (any RetryStrategy)? {
        error.isCancelled ? nil : retryStrategy
    }

    /// What follows when `source` failed with `error` and is not tried again.
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
    /// Whether the request was refused because the network is to be spared.
    fileprivate var isForLowDataMode: Bool {
        guard case .responseError(reason: .URLSessionError(let error)) = self,
            case .lowDataMode? = error as? ImageTransportError
        else { return false }
        return true
    }
}
