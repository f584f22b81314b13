public import Foundation

/// The description of an image on a declarative screen: source, options and placeholder. Animations
/// show their first frame; `KFAnimatedImage` plays them.
///
/// A value: each modifier returns a new description and leaves the old one unchanged. An
/// `ImageBinder` loads the image, and a `KFImageRenderer` draws it.
@MainActor public struct KFImage: KFImageProtocol {
    public let context: Context

    public init(context: Context) {
        self.context = context
    }
}

extension KFImage {
    /// Lets the image fill the given size, regardless of its proportions, instead of having its own
    /// size.
    ///
    /// - Parameters:
    ///   - capInsets: The margins that are not resized, in points.
    ///   - resizingMode: The way in which the middle fills the rest.
    public func resizable(
        capInsets: EdgeInsets = EdgeInsets(), resizingMode: ResizingMode = .stretch
    ) -> KFImage {
        setting {
            $0.context.rendering.resizing = Resizing(capInsets: capInsets, mode: resizingMode)
        }
    }

    /// Sets whether the image is drawn in its own colours or in that of the surrounding text; `nil`
    /// leaves the choice to the toolkit.
    public func renderingMode(_ renderingMode: TemplateRenderingMode?) -> KFImage {
        setting { $0.context.rendering.mode = renderingMode }
    }

    /// Sets the quality of drawing at another size than the image's own.
    public func interpolation(_ interpolation: Interpolation) -> KFImage {
        setting { $0.context.rendering.interpolation = interpolation }
    }

    /// Sets whether the image's edges are smoothed where they do not meet those of the screen's
    /// pixels.
    public func antialiased(_ isAntialiased: Bool) -> KFImage {
        setting { $0.context.rendering.isAntialiased = isAntialiased }
    }
}

/// The description of an image on a declarative screen that plays animations.
///
/// Has the modifiers of `KFImage`, except those for drawing a still image. Frames are decoded
/// during playback, not beforehand: a renderer makes an `Animator` for the image. A block of
/// `configure` receives the view that plays it.
@MainActor public struct KFAnimatedImage: KFImageProtocol {
    public let context: KFImage.Context

    public init(context: KFImage.Context) {
        self.context = context
        context.rendering.isAnimated = true
    }
}

extension KFImage {
    /// The content of a `KFImage` or a `KFAnimatedImage`.
    ///
    /// Two contexts are equal if they have the same source and processor: for an equal context a
    /// renderer keeps its binder, otherwise it makes a new one.
    @MainActor public final class Context {
        /// The source of the image.
        public let source: Source?
        /// The options of the load.
        public var options: KingfisherParsedOptionsInfo

        private(set) var onFailureDelegate = Delegate<KingfisherError, Void>()
        private(set) var onSuccessDelegate = Delegate<RetrieveImageResult, Void>()
        private(set) var onProgressDelegate = Delegate<(Int64, Int64), Void>()

        /// The configuration blocks for the image's view, in order.
        public var configurations: [(any KFCrossPlatformImageView) -> Void] = []
        /// Makes the view on the screen from the image's view.
        public var contentConfiguration:
            ((any KFCrossPlatformImageView) -> any KFCrossPlatformView)?
        /// Makes the placeholder, shown until the image arrives.
        public var placeholder: ((Progress) -> any KFCrossPlatformView)?
        /// Makes the view shown after a failure.
        public var failureView: (() -> any KFCrossPlatformView)?
        /// The transition to the image, in place of that in the options.
        public var loadTransition: ImageTransition?
        /// Whether loading is cancelled when the view leaves the screen.
        public var cancelOnDisappear = false
        /// Whether the priority of the download is lowered while the view is off the screen.
        public var reducePriorityOnDisappear = false
        /// Whether loading begins before the view is on the screen.
        public var startLoadingBeforeViewAppear = false
        /// The drawing options of the image.
        public var rendering = Rendering()

        init(source: Source?) {
            self.source = source
            options = KingfisherParsedOptionsInfo(
                KingfisherManager.shared.defaultOptions + [.loadDiskFileSynchronously])
        }

        init(copying other: Context) {
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
    /// The timing of a transition. Durations are in seconds; without one, the transition's own counts.
    public struct Animation: Hashable, Sendable {
        private let curve: ImageTransition.AnimationOptions?
        private let duration: TimeInterval?

        /// The transition's own timing.
        public static let `default` = Animation(curve: nil, duration: nil)

        /// Constant speed.
        public static func linear(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveLinear, duration: duration)
        }

        /// Slow at the start.
        public static func easeIn(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveEaseIn, duration: duration)
        }

        /// Slow at the end.
        public static func easeOut(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveEaseOut, duration: duration)
        }

        /// Slow at both ends.
        public static func easeInOut(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: [.curveEaseIn, .curveEaseOut], duration: duration)
        }

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
