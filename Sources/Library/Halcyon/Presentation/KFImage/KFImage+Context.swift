public import Foundation

extension KFImage {
    /// What a `KFImage` or a `KFAnimatedImage` says.
    ///
    /// Two contexts are equal when they are of the same source and processor: a renderer that is given
    /// an equal one goes on with its binder, otherwise it makes a new one.
    @MainActor public final class Context {
        /// What is loaded.
        public let source: Source?
        /// The options of the load.
        public var options: KingfisherParsedOptionsInfo

        let onFailureDelegate: Delegate<KingfisherError, Void>
        let onSuccessDelegate: Delegate<RetrieveImageResult, Void>
        let onProgressDelegate: Delegate<(Int64, Int64), Void>

        /// What is done to the view that shows the image, in order.
        public var configurations: [(any KFCrossPlatformImageView) -> Void] = []
        /// Makes the view that stands on the screen of the one that shows the image.
        public var contentConfiguration:
            ((any KFCrossPlatformImageView) -> any KFCrossPlatformView)?
        /// Makes the view that is seen until the image comes.
        public var placeholder: ((Progress) -> any KFCrossPlatformView)?
        /// Makes the view that is seen when loading has failed.
        public var failureView: (() -> any KFCrossPlatformView)?
        /// How the image is shown, in place of the transition among the options.
        public var loadTransition: ImageTransition?
        /// Whether loading is cancelled when the view leaves the screen.
        public var cancelOnDisappear = false
        /// Whether the download becomes less urgent while the view is not on the screen.
        public var reducePriorityOnDisappear = false
        /// Whether loading begins before the view is on the screen.
        public var startLoadingBeforeViewAppear = false
        /// How the image is to be drawn.
        public var rendering = Rendering()

        init(source: Source?) {
            self.source = source
            options = KingfisherParsedOptionsInfo(
                KingfisherManager.shared.defaultOptions + [.loadDiskFileSynchronously])
            onFailureDelegate = Delegate()
            onSuccessDelegate = Delegate()
            onProgressDelegate = Delegate()
        }

        private init(copying other: Context) {
            source = other.source
            options = other.options
            onFailureDelegate = other.onFailureDelegate.copy()
            onSuccessDelegate = other.onSuccessDelegate.copy()
            onProgressDelegate = other.onProgressDelegate.copy()
            configurations = other.configurations
            contentConfiguration = other.contentConfiguration
            placeholder = other.placeholder
            failureView = other.failureView
            loadTransition = other.loadTransition
            cancelOnDisappear = other.cancelOnDisappear
            reducePriorityOnDisappear = other.reducePriorityOnDisappear
            startLoadingBeforeViewAppear = other.startLoadingBeforeViewAppear
            rendering = other.rendering
        }

        func copy() -> Context {
            Context(copying: self)
        }
    }
}

extension KFImage.Context: @MainActor Hashable {
    public static func == (lhs: KFImage.Context, rhs: KFImage.Context) -> Bool {
        lhs.source == rhs.source
            && lhs.options.processor.identifier == rhs.options.processor.identifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(options.processor.identifier)
    }
}
