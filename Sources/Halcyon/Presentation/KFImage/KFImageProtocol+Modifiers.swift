public import Foundation

extension KFImageProtocol {
    /// Adds something that is done to the view that shows the image.
    public func configure(_ block: @escaping (any KFCrossPlatformImageView) -> Void) -> Self {
        setting { $0.context.configurations.append(block) }
    }

    /// Sets what makes the view that stands on the screen of the one that shows the image.
    public func contentConfigure(
        _ block: @escaping (any KFCrossPlatformImageView) -> any KFCrossPlatformView
    ) -> Self {
        setting { $0.context.contentConfiguration = block }
    }

    /// Sets what makes the view that is seen until the image comes; it is given the progress, whose
    /// total is 0 until it is known.
    public func placeholder(
        _ content: @escaping (_ progress: Progress) -> any KFCrossPlatformView
    ) -> Self {
        setting { $0.context.placeholder = content }
    }

    /// Sets what makes the view that is seen until the image comes.
    public func placeholder(_ content: @escaping () -> any KFCrossPlatformView) -> Self {
        placeholder { _ in content() }
    }

    /// Sets what makes the view that is seen when loading has failed, in place of an `onFailureImage`.
    public func onFailureView(_ content: @escaping () -> any KFCrossPlatformView) -> Self {
        setting { $0.context.failureView = content }
    }

    /// Whether loading is cancelled when the view leaves the screen; it begins again when the view comes
    /// back.
    public func cancelOnDisappear(_ enabled: Bool) -> Self {
        setting { $0.context.cancelOnDisappear = enabled }
    }

    /// Whether loading begins as soon as the view is made, before it is on the screen.
    public func startLoadingBeforeViewAppear(_ enabled: Bool = true) -> Self {
        setting { $0.context.startLoadingBeforeViewAppear = enabled }
    }

    /// Lets the image fade in, unless it comes from a cache. Its place is made before that.
    ///
    /// - Parameter duration: In seconds.
    public func fade(duration: TimeInterval) -> Self {
        setting(\.transition, to: .fade(duration))
    }

    /// Whether the download becomes less urgent (0.25, unless it is that already) when the view
    /// leaves the screen; it becomes as urgent as before when the view comes back. Does nothing for
    /// a load that is cancelled then.
    public func reducePriorityOnDisappear(_ enabled: Bool) -> Self {
        setting { $0.context.reducePriorityOnDisappear = enabled }
    }

    /// Lets the image take the placeholder's place by `transition`, unless it comes from a cache. Wins
    /// over `fade`.
    ///
    /// `animation` is how the transition runs; with `nil` the image is there at once.
    public func loadTransition(
        _ transition: ImageTransition, animation: KFImage.Animation? = .default
    ) -> Self {
        setting {
            $0.context.loadTransition =
                animation.map { $0.applied(to: transition) } ?? ImageTransition.none
        }
    }
}
