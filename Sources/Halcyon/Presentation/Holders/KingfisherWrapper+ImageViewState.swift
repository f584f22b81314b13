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

    /// The placeholder on show.
    public var placeholder: (any Placeholder)? { base.imageViewState.placeholder }
}
