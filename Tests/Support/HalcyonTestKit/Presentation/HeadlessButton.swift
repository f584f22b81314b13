public import Halcyon

/// A button without a screen, with an image and a background for each state.
@MainActor public final class HeadlessButton: KFCrossPlatformButton {
    public private(set) var images: [ControlState: KFCrossPlatformImage] = [:]
    public private(set) var backgrounds: [ControlState: KFCrossPlatformImage] = [:]

    public init() {}

    public func image(for state: ControlState) -> KFCrossPlatformImage? { images[state] }

    public func setImage(_ image: KFCrossPlatformImage?, for state: ControlState) {
        images[state] = image
    }

    public func backgroundImage(for state: ControlState) -> KFCrossPlatformImage? {
        backgrounds[state]
    }

    public func setBackgroundImage(_ image: KFCrossPlatformImage?, for state: ControlState) {
        backgrounds[state] = image
    }
}

/// A button without a screen, with an image and an alternate one.
@MainActor public final class HeadlessToggleButton: KFCrossPlatformToggleButton {
    public var image: KFCrossPlatformImage?
    public var alternateImage: KFCrossPlatformImage?

    public init() {}
}
