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

    public func makeImageView() -> any KFCrossPlatformImageView {
        HeadlessImageView(clock: clock)
    }

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
