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
