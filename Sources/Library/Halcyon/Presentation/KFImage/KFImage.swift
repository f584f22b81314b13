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
