import Foundation
import HalcyonGTK

/// One or more pictures with a title and one or two lines below.
final class Tile: Box {
    private let detailLabel: Label

    /// - Parameter views: Side by side.
    init(_ views: [View], title: String, detail: String = "") {
        detailLabel = Label(detail, style: "detail", wraps: true)
        super.init(.column, spacing: 6)
        append(Box(.row, spacing: 6, views))
        append(Box(.column, spacing: 1, [Label(title, style: "tile-title"), detailLabel]))
    }

    /// - Parameter view: As wide as the tile.
    convenience init(_ view: View, title: String, detail: String = "") {
        self.init([view.expand(vertically: false)], title: title, detail: detail)
    }

    /// The lines below the title.
    var detail: String {
        get { detailLabel.text }
        set { detailLabel.text = newValue }
    }
}
