import CGtk4
import Foundation
import Halcyon
import HalcyonGTK

/// One or more pictures with a title and one or two lines below.
final class Tile: Box {
    private let detailLabel: Label

    /// - Parameter views: Side by side.
    init(_ views: [View], title: String, detail: String = "") {
        detailLabel = Label(detail, style: "detail", lines: 2)
        super.init(.column, spacing: 6)
        append(Box(.row, spacing: 6, views))
        append(Box(.column, spacing: 1, [Label(title, style: "tile-title"), detailLabel]))
    }

    /// - Parameter view: As wide as the tile.
    convenience init(_ view: View, title: String, detail: String = "") {
        self.init([view.expand(vertically: false)], title: title, detail: detail)
    }

    var detail: String {
        get { detailLabel.text }
        set { detailLabel.text = newValue }
    }
}

/// Tiles of one width in rows, as many in a row as fit.
final class TileGrid: View {
    init(_ tiles: [View], columns: ClosedRange<Int> = 1...6, spacing: Int? = nil) {
        super.init(widget: gtk_flow_box_new())
        let box = OpaquePointer(widget)
        gtk_flow_box_set_selection_mode(box, GTK_SELECTION_NONE)
        gtk_flow_box_set_homogeneous(box, 1)
        gtk_flow_box_set_min_children_per_line(box, guint(columns.lowerBound))
        gtk_flow_box_set_max_children_per_line(box, guint(columns.upperBound))
        gtk_flow_box_set_row_spacing(box, guint(spacing ?? 22))
        gtk_flow_box_set_column_spacing(box, guint(spacing ?? 18))
        gtk_widget_set_valign(widget, GTK_ALIGN_START)
        for tile in tiles {
            gtk_flow_box_insert(box, tile.widget, -1)
            if let child = gtk_widget_get_parent(tile.widget) { gtk_widget_set_focusable(child, 0) }
        }
    }
}

extension ImageView {
    /// The view at a fixed size, whatever it shows.
    func fixed(width: CGFloat, height: CGFloat) -> Self {
        requestedSize = CGSize(width: width, height: height)
        sizesToImage = false
        contentMode = .fill
        cornerRadius = .point(8)
        return self
    }

    /// A view of one colour.
    static func patch(_ color: Color, width: CGFloat, height: CGFloat) -> ImageView {
        let components = [color.red, color.green, color.blue]
        let samples = components.map { UInt8((min(max($0, 0), 1) * 255).rounded()) }
        let pixel = Bitmap(pixels: Data(samples), size: PixelSize(width: 1, height: 1), channels: 3)
        return ImageView(image: pixel.map { Image(bitmap: $0) }).fixed(width: width, height: height)
    }
}
