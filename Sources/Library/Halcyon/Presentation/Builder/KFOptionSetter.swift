/// Something that collects the options of a load by a chain of calls: the `KF` builder and `KFImage`.
@MainActor public protocol KFOptionSetter {
    /// The options so far.
    var options: KingfisherParsedOptionsInfo { get nonmutating set }

    /// Told why an image is not shown.
    var onFailureDelegate: Delegate<KingfisherError, Void> { get }
    /// Told of the image that is shown.
    var onSuccessDelegate: Delegate<RetrieveImageResult, Void> { get }
    /// Told of bytes received and bytes expected.
    var onProgressDelegate: Delegate<(Int64, Int64), Void> { get }

    /// What the next setter changes: this value itself, unless it is to keep its options when another
    /// is made of it.
    func copyForMutation() -> Self
}

extension KFOptionSetter {
    public func copyForMutation() -> Self { self }

    /// What `copyForMutation` gives, changed.
    func setting(_ change: (Self) -> Void) -> Self {
        let changed = copyForMutation()
        change(changed)
        return changed
    }

    /// What `copyForMutation` gives, with an option changed.
    func setting<Value>(
        _ option: WritableKeyPath<KingfisherParsedOptionsInfo, Value>, to value: Value
    ) -> Self {
        setting { $0.options[keyPath: option] = value }
    }
}

@MainActor extension KFOptionSetter {
    /// Sets what is called with bytes received and bytes expected, on the main queue. Not called when
    /// the total is unknown.
    public func onProgress(_ block: DownloadProgressBlock?) -> Self {
        setting { setter in
            setter.onProgressDelegate.set(block.map { block in { block($0.0, $0.1) } })
        }
    }

    /// Sets what is called with the image that is shown, on the main actor.
    public func onSuccess(_ block: (@MainActor (RetrieveImageResult) -> Void)?) -> Self {
        setting { setter in
            setter.onSuccessDelegate.set(
                block.map { block in { result in MainActor.assumeIsolated { block(result) } } })
        }
    }

    /// Sets what is called with the reason when no image is shown, on the main actor.
    public func onFailure(_ block: (@MainActor (KingfisherError) -> Void)?) -> Self {
        setting { setter in
            setter.onFailureDelegate.set(
                block.map { block in { error in MainActor.assumeIsolated { block(error) } } })
        }
    }
}

extension KFOptionSetter {
    /// A target for closures that are set on the delegates and need none: it lives as long as the program.
    public var delegateObserver: KFDelegateObserver { .default }
}

/// The target of closures that need none.
public final class KFDelegateObserver: Sendable {
    // A class, not `AnyObject`: the compiler crashes when it infers that as the type of a target.

    static let `default` = KFDelegateObserver()

    private init() {}
}

@MainActor extension KFOptionSetter {
    /// Does nothing: an image is loaded as soon as it is to be seen.
    @available(*, deprecated, message: "Does nothing; remove it.")
    public func loadImmediately(_ start: Bool = true) -> Self { self }
}
