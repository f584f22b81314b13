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
