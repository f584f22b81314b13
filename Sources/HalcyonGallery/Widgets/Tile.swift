import Foundation
import HalcyonGTK

/// One or more pictures with a title and a line below.
final class Tile: View {
    private let box: Box
    private let detailLabel: Label

    /// - Parameter views: Side by side.
    init(_ views: [View], title: String, detail: String = "") {
        detailLabel = Label(detail, style: "detail")
        let row = Box(.row, spacing: 6, views.map { $0.expand(vertically: false) })
        let caption = Box(.column, spacing: 1, [Label(title, style: "tile-title"), detailLabel])
        box = Box(.column, spacing: 6, [row, caption])
        super.init(widget: box.widget)
    }

    convenience init(_ view: View, title: String, detail: String = "") {
        self.init([view], title: title, detail: detail)
    }

    /// The line below the title.
    var detail: String {
        get { detailLabel.text }
        set { detailLabel.text = newValue }
    }
}
