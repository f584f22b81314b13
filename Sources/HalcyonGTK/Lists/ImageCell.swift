/// A view that shows one item after the other of a list, with an image of it.
@MainActor public protocol ImageCell: View {
    /// The view that is given the image.
    var imageView: ImageView { get }
}

extension ImageView: ImageCell {
    /// The view itself: an image view is a cell without anything else.
    public var imageView: ImageView { self }
}
