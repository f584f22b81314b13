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
