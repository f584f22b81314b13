public import Halcyon

/// An image view without a screen, which records its events.
///
/// Its transitions take their duration on a manual clock.
@MainActor public final class HeadlessImageView: KFCrossPlatformImageView {
    public let imageViewState = ImageViewState()
    public let record: HeadlessRecord
    /// The overlays and their placements, the topmost last.
    public private(set) var overlays:
        [(view: any KFCrossPlatformView, placement: OverlayPlacement)] = []
    public let preloadsAllAnimationData: Bool
    private let clock: ManualClock

    public init(clock: ManualClock = ManualClock(), preloadsAllAnimationData: Bool = true) {
        self.clock = clock
        self.preloadsAllAnimationData = preloadsAllAnimationData
        record = HeadlessRecord(clock: clock)
    }

    public var image: KFCrossPlatformImage? {
        didSet { record.record(.shows(image)) }
    }

    public var isHidden = false {
        didSet { record.record(.hidden(isHidden)) }
    }

    public func addOverlay(_ view: any KFCrossPlatformView, placement: OverlayPlacement) {
        overlays.append((view, placement))
        record.record(.overlayAdded(ObjectIdentifier(view)))
    }

    public func removeOverlay(_ view: any KFCrossPlatformView) {
        guard let index = overlays.firstIndex(where: { $0.view === view }) else { return }
        overlays.remove(at: index)
        record.record(.overlayRemoved(ObjectIdentifier(view)))
    }

    public func makeActivityView() -> any ActivityView { HeadlessActivityView() }

    public func makeImageView() -> any KFCrossPlatformImageView { HeadlessImageView(clock: clock) }

    public func animate(
        _ transition: ImageTransition, changes: @escaping @MainActor () -> Void,
        completion: @escaping @MainActor (_ finished: Bool) -> Void
    ) {
        record.record(.transitionBegan(seconds: transition.duration, transition.animationOptions))
        let clock = clock
        changes()
        Task {
            // The clock is no longer advanced when its test has ended.
            let finished = (try? await clock.sleep(for: .seconds(transition.duration))) != nil
            record.record(.transitionEnded)
            completion(finished)
        }
    }
}

/// A spinner without a screen.
@MainActor public final class HeadlessActivityView: ActivityView {
    public private(set) var isAnimating = false
    public var isHidden = false

    public init() {}

    public func startAnimating() { isAnimating = true }

    public func stopAnimating() { isAnimating = false }
}

/// A view without a screen that shows a text, and serves as placeholder.
@MainActor public final class HeadlessLabel: KFCrossPlatformView, Placeholder {
    public var text: String
    public var isHidden = false

    public init(_ text: String = "") { self.text = text }
}

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
