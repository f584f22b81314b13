public import Foundation

/// Draws the presentation of an `ImageBinder`.
@MainActor public protocol KFImageRenderer: AnyObject {
    /// Called after each change, which must be animated unless `transition` is `.none`.
    func imageBinder(
        _ binder: ImageBinder, didChangeTo presentation: KFImage.Presentation,
        transition: ImageTransition)
}

extension KFImage {
    /// The visible content of a `KFImage`: an image and perhaps a view on top of it.
    public struct Presentation: Sendable {
        /// The view on top of the image.
        public enum Overlay: Hashable, Sendable {
            /// Nothing.
            case none
            /// The placeholder, if there is one.
            case placeholder
            /// The failure view.
            case failureView
        }

        /// The image; `nil` until there is one.
        public var image: KFCrossPlatformImage?
        /// Whether the image is visible; if not, it may still take up its space.
        public var isImageVisible = false
        /// The view on top of the image.
        public var overlay = Overlay.placeholder
        /// Whether the image determines the size of the whole; otherwise the overlay does, and the
        /// image takes up no space.
        public var imageDefinesLayout = false
        /// The drawing options, from the description.
        public var rendering = Rendering()
    }

    /// The drawing options of an image, as far as a toolkit supports them; `nil` leaves the choice
    /// to it.
    public struct Rendering: Hashable, Sendable {
        /// The resizing to the given size; `nil` for an image of its own size.
        public var resizing: Resizing?
        /// Whether the image is drawn in its own colours.
        public var mode: TemplateRenderingMode?
        /// The quality of drawing at another size than the image's own.
        public var interpolation: Interpolation?
        /// Whether the edges are smoothed.
        public var isAntialiased: Bool?
        /// Whether an animation is played; otherwise its first frame is shown.
        public var isAnimated = false

        public init() {}
    }

    /// The way in which an image fills another size than its own.
    public struct Resizing: Hashable, Sendable {
        /// The margins that are not resized, in points.
        public var capInsets: EdgeInsets
        /// The way in which the middle fills the rest.
        public var mode: ResizingMode

        public init(capInsets: EdgeInsets = EdgeInsets(), mode: ResizingMode = .stretch) {
            self.capInsets = capInsets
            self.mode = mode
        }
    }

    /// Distances from the edges of an image, in points.
    public struct EdgeInsets: Hashable, Sendable {
        public var top: CGFloat
        /// The left edge in left-to-right languages.
        public var leading: CGFloat
        public var bottom: CGFloat
        /// The right edge in left-to-right languages.
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

    /// The way in which part of an image fills a larger area.
    public enum ResizingMode: Hashable, Sendable {
        /// Repeated at its own size.
        case tile
        /// Enlarged.
        case stretch
    }

    /// The use of an image's colours.
    public enum TemplateRenderingMode: Hashable, Sendable {
        /// The image's own colours.
        case original
        /// Only the alpha channel, as a stencil for the colour of the surrounding text.
        case template
    }

    /// The quality of drawing an image at another size than its own.
    public enum Interpolation: Hashable, Sendable {
        /// Nearest neighbour: pixels stay squares.
        case none
        case low
        case medium
        case high
    }
}
