public import Foundation
public import Halcyon

/// A reusable list cell with an image view.
@MainActor public protocol ImageCell: View {
    /// The view that is given the image.
    var imageView: ImageView { get }
}

extension ImageView: ImageCell {
    /// The view itself: an image view is a cell without anything else.
    public var imageView: ImageView { self }
}

/// The settings by which the cells of a list load and show their images.
@MainActor public struct ImageCellConfiguration {
    /// The size images are made for.
    public enum Size: Hashable, Sendable {
        /// The size of the image view in a laid-out cell, rounded up to a multiple of 32 pixels, so
        /// that resizing the window does not make every image anew. Cells without a size of their
        /// own get images at their original size.
        case cell
        /// A fixed size, in points.
        case points(CGSize)
        /// The images' own size: nothing is downsampled.
        case original
    }

    /// The size images are made for, multiplied by the screen's scale factor; `.cell` by default.
    public var imageSize = Size.cell

    /// The options of each load, after the shared manager's default options. A processor among them
    /// works on the downsampled image.
    public var options: KingfisherOptionsInfo = []

    /// The number of items to prefetch past the visible ones in the scrolling direction; 24 by
    /// default. A quarter as many are prefetched in the other direction. 0 disables prefetching.
    public var prefetchCount = 24

    /// Makes the placeholder of a cell; none by default. A view has to be a new one for each cell.
    public var placeholder: (ListItem) -> (any Placeholder)? = { _ in nil }

    /// Called with the result of each load of a cell, except for loads cancelled because the cell
    /// was unbound.
    public var onResult: (any ImageCell, Result<RetrieveImageResult, KingfisherError>) -> Void =
        { _, _ in }

    public init() {}
}
