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
