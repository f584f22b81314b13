/// The state of a button, in which it may show another image than in others.
public struct ControlState: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Nothing in particular.
    public static let normal: ControlState = []
    /// Pressed.
    public static let highlighted = ControlState(rawValue: 1 << 0)
    /// Not to be used.
    public static let disabled = ControlState(rawValue: 1 << 1)
    /// Switched on.
    public static let selected = ControlState(rawValue: 1 << 2)
    /// Has the keyboard's focus.
    public static let focused = ControlState(rawValue: 1 << 3)
}

/// A button with an image and a background for each of its states.
///
/// Each of them is a slot of its own: loads of different slots are independent.
@MainActor public protocol KFCrossPlatformButton: KingfisherCompatible {
    /// The image set for exactly `state`.
    func image(for state: ControlState) -> KFCrossPlatformImage?
    /// Sets the image for `state`; `nil` takes it away.
    func setImage(_ image: KFCrossPlatformImage?, for state: ControlState)
    /// The background set for exactly `state`.
    func backgroundImage(for state: ControlState) -> KFCrossPlatformImage?
    /// Sets the background for `state`; `nil` takes it away.
    func setBackgroundImage(_ image: KFCrossPlatformImage?, for state: ControlState)
}

/// A button with an image, and another one for when it is switched on.
///
/// Each of them is a slot of its own: loads of different slots are independent.
@MainActor public protocol KFCrossPlatformToggleButton: KingfisherCompatible {
    /// The image of the button that is switched off, or in both states.
    var image: KFCrossPlatformImage? { get set }
    /// The image of the button that is switched on.
    var alternateImage: KFCrossPlatformImage? { get set }
}
