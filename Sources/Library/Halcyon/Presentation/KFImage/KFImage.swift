public import Foundation

/// The description of an image on a declarative screen: what to load, how, and what to show meanwhile.
/// Of an animation, its first frame is seen; `KFAnimatedImage` plays it.
///
/// A value: each modifier gives a new description and leaves the old one as it was. An `ImageBinder`
/// loads what it describes, and a `KFImageRenderer` draws that.
@MainActor public struct KFImage: KFImageProtocol {
    public let context: Context

    public init(context: Context) {
        self.context = context
    }
}

extension KFImage {
    /// Lets the image fill the size it is given, which does not keep its proportions, instead of having
    /// its own.
    ///
    /// - Parameters:
    ///   - capInsets: How much at each edge, in points, keeps its size.
    ///   - resizingMode: How what is between them fills the rest.
    public func resizable(
        capInsets: EdgeInsets = EdgeInsets(), resizingMode: ResizingMode = .stretch
    ) -> KFImage {
        setting {
            $0.context.rendering.resizing = Resizing(capInsets: capInsets, mode: resizingMode)
        }
    }

    /// Whether the image is seen as it is or in the colour of the text around it; `nil` leaves that to the
    /// toolkit.
    public func renderingMode(_ renderingMode: TemplateRenderingMode?) -> KFImage {
        setting { $0.context.rendering.mode = renderingMode }
    }

    /// Sets the quality of drawing the image at another size than its own.
    public func interpolation(_ interpolation: Interpolation) -> KFImage {
        setting { $0.context.rendering.interpolation = interpolation }
    }

    /// Whether the image's edges are smoothed where they do not meet those of the screen's pixels.
    public func antialiased(_ isAntialiased: Bool) -> KFImage {
        setting { $0.context.rendering.isAntialiased = isAntialiased }
    }
}

/// The description of an image on a declarative screen, which is played if it is an animation.
///
/// Has the modifiers of `KFImage`, except those for drawing a still image. Frames are decoded while it is
/// played, not beforehand: a renderer makes an `Animator` for the image. A block of `configure` is given
/// the view that plays it.
@MainActor public struct KFAnimatedImage: KFImageProtocol {
    public let context: KFImage.Context

    public init(context: KFImage.Context) {
        self.context = context
        context.rendering.isAnimated = true
    }
}

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

extension KFImage {
    /// How a transition runs.
    public struct Animation: Hashable, Sendable {
        private let curve: ImageTransition.AnimationOptions?
        private let duration: TimeInterval?

        /// As the transition says by itself.
        public static let `default` = Animation(curve: nil, duration: nil)

        /// Keeps its speed.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func linear(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveLinear, duration: duration)
        }

        /// Starts slowly.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func easeIn(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveEaseIn, duration: duration)
        }

        /// Ends slowly.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func easeOut(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveEaseOut, duration: duration)
        }

        /// Starts and ends slowly.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func easeInOut(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: [.curveEaseIn, .curveEaseOut], duration: duration)
        }

        /// `transition`, running as this animation does.
        func applied(to transition: ImageTransition) -> ImageTransition {
            guard curve != nil || duration != nil else { return transition }
            var options = transition.animationOptions
            if let curve {
                options.subtract([.curveEaseIn, .curveEaseOut, .curveLinear])
                options.formUnion(curve)
            }
            let duration = duration ?? transition.duration
            return switch transition {
            case .none: .none
            case .custom(_, _, let animations, let completion):
                .custom(
                    duration: duration, options: options, animations: animations,
                    completion: completion)
            case .fade, .flipFromLeft, .flipFromRight, .flipFromTop, .flipFromBottom:
                .custom(duration: duration, options: options, animations: nil, completion: nil)
            }
        }
    }
}
