@MainActor extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    /// The number of the load the view waits for; `nil` when it waits for none.
    public var taskIdentifier: Source.Identifier.Value? {
        base.imageViewState.loader.taskIdentifier
    }

    /// The indicator shown during loads; `.none` by default. Setting it replaces the indicator's view.
    public var indicatorType: IndicatorType {
        get { base.imageViewState.indicatorType }
        nonmutating set { base.imageViewState.setIndicator(newValue, on: base) }
    }

    /// The indicator itself.
    public var indicator: (any Indicator)? { base.imageViewState.indicator }

    /// Makes the view that lies over the whole of the image view when a load has failed, in place of the
    /// placeholder; the next load takes it away. `nil`, the default, makes none, as does a load that was
    /// cancelled.
    public var failureView: (@MainActor (KingfisherError) -> any KFCrossPlatformView)? {
        get { base.imageViewState.failureView }
        nonmutating set { base.imageViewState.failureView = newValue }
    }

    /// Loads again what could not be loaded, with the same placeholder, options and progress block. The
    /// completion handler has been called and is not called again.
    ///
    /// - Returns: Whether the last load has failed; a cancelled one has not.
    @discardableResult
    public func retryFailedLoad() -> Bool {
        base.imageViewState.retryFailedLoad()
    }

    /// The placeholder on show.
    public var placeholder: (any Placeholder)? { base.imageViewState.placeholder }
}
