public import Halcyon

/// An object with an image and nothing else.
@MainActor public final class HeadlessImageHolder: KingfisherHasImageComponent {
    /// All values of `image`, in order.
    public private(set) var history: [KFCrossPlatformImage?] = []

    public init() {}

    public var image: KFCrossPlatformImage? {
        didSet { history.append(image) }
    }
}

/// A renderer that records the presentations of a binder.
@MainActor public final class HeadlessImageRenderer: KFImageRenderer {
    /// The presentations with their transitions, in order.
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
