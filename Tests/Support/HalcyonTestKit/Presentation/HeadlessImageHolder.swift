public import Halcyon

/// An object that can do nothing but hold an image.
@MainActor public final class HeadlessImageHolder: KingfisherHasImageComponent {
    /// The images it was given, in order; `nil` where it was emptied.
    public private(set) var history: [KFCrossPlatformImage?] = []

    public init() {}

    public var image: KFCrossPlatformImage? {
        didSet { history.append(image) }
    }
}

/// Keeps what a binder has to show.
@MainActor public final class HeadlessImageRenderer: KFImageRenderer {
    /// What was to be shown, and by which transition, in order.
    public private(set) var frames:
        [(presentation: KFImage.Presentation, transition: ImageTransition)] = []

    public init() {}

    public func imageBinder(
        _ binder: ImageBinder, didChangeTo presentation: KFImage.Presentation,
        transition: ImageTransition
    ) {
        frames.append((presentation, transition))
    }
}
