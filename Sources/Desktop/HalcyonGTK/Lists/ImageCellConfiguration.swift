public import Foundation
public import Halcyon

/// A view that shows one item after the other of a list, with an image of it.
@MainActor public protocol ImageCell: View {
    /// The view that is given the image.
    var imageView: ImageView { get }
}

extension ImageView: ImageCell {
    /// The view itself: an image view is a cell without anything else.
    public var imageView: ImageView { self }
}

/// How the cells of a list load and show their images.
@MainActor public struct ImageCellConfiguration {
    /// The size images are made for.
    public enum Size: Hashable, Sendable {
        /// That of the image view in a cell that is laid out, rounded up to whole steps of 32 pixels,
        /// so that a window that changes its size does not make every image anew. Without a size of
        /// their own, cells have images as large as they are.
        case cell
        /// This one, in points.
        case points(CGSize)
        /// Their own: nothing is downsampled.
        case original
    }

    /// The size images are made for, times the pixels per point of the screen; that of the cells by
    /// default.
    public var imageSize = Size.cell

    /// The options of each load, after the shared manager's default options. A processor among them
    /// works on the downsampled image.
    public var options: KingfisherOptionsInfo = []

    /// How many items past those on show are prefetched in the direction of movement; 24 by default.
    /// Behind it is a quarter of that. 0 prefetches nothing.
    public var prefetchCount = 24

    /// Makes what a cell shows until its image comes; nothing by default. A view has to be a new one
    /// for each cell.
    public var placeholder: (ListItem) -> (any Placeholder)? = { _ in nil }

    /// Told of each image that a cell shows, and of each that it could not load. What was cancelled
    /// because the cell has left is not told.
    public var onResult: (any ImageCell, Result<RetrieveImageResult, KingfisherError>) -> Void =
        { _, _ in }

    public init() {}
}
