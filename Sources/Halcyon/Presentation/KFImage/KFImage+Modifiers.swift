public import Foundation

extension KFImage {
    /// Adds something that is done to the view that shows the image.
    public func configure(_ block: @escaping (any KFCrossPlatformImageView) -> Void) -> KFImage {
        setting { $0.context.configurations.append(block) }
    }

    /// Sets what makes the view that stands on the screen of the one that shows the image.
    public func contentConfigure(
        _ block: @escaping (any KFCrossPlatformImageView) -> any KFCrossPlatformView
    ) -> KFImage {
        setting { $0.context.contentConfiguration = block }
    }

    /// Sets what makes the view that is seen until the image comes; it is given the progress, whose
    /// total is 0 until it is known.
    public func placeholder(
        _ content: @escaping (_ progress: Progress) -> any KFCrossPlatformView
    ) -> KFImage {
        setting { $0.context.placeholder = content }
    }

    /// Sets what makes the view that is seen until the image comes.
    public func placeholder(_ content: @escaping () -> any KFCrossPlatformView) -> KFImage {
        placeholder { _ in content() }
    }

    /// Sets what makes the view that is seen when loading has failed, in place of an `onFailureImage`.
    public func onFailureView(_ content: @escaping () -> any KFCrossPlatformView) -> KFImage {
        setting { $0.context.failureView = content }
    }

    /// Whether loading is cancelled when the view leaves the screen; it begins again when the view comes
    /// back.
    public func cancelOnDisappear(_ enabled: Bool) -> KFImage {
        setting { $0.context.cancelOnDisappear = enabled }
    }

    /// Whether loading begins as soon as the view is made, before it is on the screen.
    public func startLoadingBeforeViewAppear(_ enabled: Bool = true) -> KFImage {
        setting { $0.context.startLoadingBeforeViewAppear = enabled }
    }

    /// Lets the image fade in, unless it comes from a cache. Its place is made before that.
    ///
    /// - Parameter duration: In seconds.
    public func fade(duration: TimeInterval) -> KFImage {
        setting(\.transition, to: .fade(duration))
    }

    /// Lets the image take the placeholder's place by `transition`, unless it comes from a cache. Wins
    /// over `fade`.
    public func loadTransition(_ transition: ImageTransition) -> KFImage {
        setting { $0.context.loadTransition = transition }
    }
}
