public import Foundation

/// Draws what an `ImageBinder` has to show.
@MainActor public protocol KFImageRenderer: AnyObject {
    /// Called after each change; the change is to be seen as an animation unless `transition` is
    /// `.none`.
    func imageBinder(
        _ binder: ImageBinder, didChangeTo presentation: KFImage.Presentation,
        transition: ImageTransition)
}

extension KFImage {
    /// What is to be seen of a `KFImage`: an image below and perhaps a view on top of it.
    public struct Presentation: Sendable {
        /// What lies on top of the image.
        public enum Overlay: Hashable, Sendable {
            /// Nothing.
            case none
            /// The placeholder, or nothing if there is none.
            case placeholder
            /// The failure view.
            case failureView
        }

        /// The image; `nil` until there is one.
        public var image: KFCrossPlatformImage?
        /// Whether the image is seen; it may only take its place before.
        public var isImageVisible = false
        /// What lies on top of the image.
        public var overlay = Overlay.placeholder
        /// Whether the image makes the size of the whole; otherwise what lies on top of it does, and the
        /// image takes no room.
        public var imageDefinesLayout = false
        /// How the image is to be drawn, as the description says.
        public var rendering = Rendering()
    }
}

extension KFImage {
    /// How the image is to be drawn, as far as a toolkit can; `nil` leaves it to the toolkit.
    public struct Rendering: Hashable, Sendable {
        /// How the image fills the size it is given; `nil` when it has its own.
        public var resizing: Resizing?
        /// Whether its colours are seen.
        public var mode: TemplateRenderingMode?
        /// The quality of drawing at another size than its own.
        public var interpolation: Interpolation?
        /// Whether its edges are smoothed.
        public var isAntialiased: Bool?
        /// Whether an animation is played; otherwise its first frame is shown.
        public var isAnimated = false

        public init() {}
    }

    /// How an image fills a size that is not its own.
    public struct Resizing: Hashable, Sendable {
        /// What keeps its size at the edges, in points.
        public var capInsets: EdgeInsets
        /// How what is between them fills the rest.
        public var mode: ResizingMode

        public init(capInsets: EdgeInsets = EdgeInsets(), mode: ResizingMode = .stretch) {
            self.capInsets = capInsets
            self.mode = mode
        }
    }

    /// Distances from the edges of an image, in points.
    public struct EdgeInsets: Hashable, Sendable {
        public var top: CGFloat
        /// The left edge where one reads from left to right.
        public var leading: CGFloat
        public var bottom: CGFloat
        /// The right edge where one reads from left to right.
        public var trailing: CGFloat

        public init(
            top: CGFloat = 0, leading: CGFloat = 0, bottom: CGFloat = 0, trailing: CGFloat = 0
        ) {
            self.top = top
            self.leading = leading
            self.bottom = bottom
            self.trailing = trailing
        }
    }

    /// How a part of an image fills a larger place.
    public enum ResizingMode: Hashable, Sendable {
        /// Repeated at its own size.
        case tile
        /// Made larger.
        case stretch
    }

    /// Whether the colours of an image are seen.
    public enum TemplateRenderingMode: Hashable, Sendable {
        /// They are.
        case original
        /// Only its alpha channel counts, as a stencil for the colour of the text around it.
        case template
    }

    /// The quality of drawing an image at another size than its own.
    public enum Interpolation: Hashable, Sendable {
        /// Pixels stay squares.
        case none
        case low
        case medium
        case high
    }
}
