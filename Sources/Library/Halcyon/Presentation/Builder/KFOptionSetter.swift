/// A builder of load options by chained calls: the `KF` builder and `KFImage`.
@MainActor public protocol KFOptionSetter {
    /// The options so far.
    var options: KingfisherParsedOptionsInfo { get nonmutating set }

    /// Called with the error when loading fails.
    var onFailureDelegate: Delegate<KingfisherError, Void> { get }
    /// Called with the image when it is shown.
    var onSuccessDelegate: Delegate<RetrieveImageResult, Void> { get }
    /// Called with the bytes received and expected.
    var onProgressDelegate: Delegate<(Int64, Int64), Void> { get }

    /// The object that the next setter changes: this one itself, or a copy if its own options must
    /// stay unchanged.
    func copyForMutation() -> Self
}

extension KFOptionSetter {
    public func copyForMutation() -> Self { self }

    func setting(_ change: (Self) -> Void) -> Self {
        let changed = copyForMutation()
        change(changed)
        return changed
    }

    func setting<Value>(
        _ option: WritableKeyPath<KingfisherParsedOptionsInfo, Value>, to value: Value
    ) -> Self {
        setting { $0.options[keyPath: option] = value }
    }
}

@MainActor extension KFOptionSetter {
    /// Sets the progress handler, called with the bytes received and expected, on the main queue.
    /// Not called if the total is unknown.
    public func onProgress(_ block: DownloadProgressBlock?) -> Self {
        setting { setter in
            setter.onProgressDelegate.set(block.map { block in { block($0.0, $0.1) } })
        }
    }

    /// Sets the handler for the image shown, called on the main actor.
    public func onSuccess(_ block: (@MainActor (RetrieveImageResult) -> Void)?) -> Self {
        setting { $0.onSuccessDelegate.set(onMainActor(block)) }
    }

    /// Sets the handler for a failure, called on the main actor.
    public func onFailure(_ block: (@MainActor (KingfisherError) -> Void)?) -> Self {
        setting { $0.onFailureDelegate.set(onMainActor(block)) }
    }

    /// The block as one that is only called on the main actor, though its type does not say so.
    func onMainActor<Value: Sendable>(
        _ block: (@MainActor @Sendable (Value) -> Void)?
    ) -> (@Sendable (Value) -> Void)? {
        guard let block else { return nil }
        return { value in MainActor.assumeIsolated { block(value) } }
    }
}

extension KFOptionSetter {
    /// A target for delegate closures that need none: it lives as long as the program.
    public var delegateObserver: KFDelegateObserver { .default }
}

/// The target of closures that need none.
public final class KFDelegateObserver: Sendable {
    // A class, not `AnyObject`: the compiler crashes when it infers that as the type of a target.

    static let `default` = KFDelegateObserver()

    private init() {}
}

@MainActor extension KFOptionSetter {
    /// Does nothing: an image is loaded as soon as it becomes visible.
    @available(*, deprecated, message: "Does nothing; remove it.")
    public func loadImmediately(_ start: Bool = true) -> Self { self }
}
