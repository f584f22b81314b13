import CGtk4
import Foundation
import Halcyon
import HalcyonGTK

/// A container that gives one view a fixed size, whatever the window's, and counts its drawings.
@MainActor final class TestStage: Canvas {
    /// The size of the view, in points.
    var extent: CGSize {
        didSet { setNeedsLayout() }
    }

    /// The number of times that the view was drawn.
    private(set) var drawings = 0

    private let view: View

    init(_ view: View, size: CGSize) {
        self.view = view
        extent = size
        super.init()
        gtk_widget_set_parent(view.gtkWidget, gtkWidget)
    }

    /// A transparent bitmap of the view's size.
    var emptyPicture: Bitmap {
        let size = PixelSize(points: extent, scale: scaleFactor)
        guard let bitmap = Bitmap(pixels: Data(count: size.pixelCount * 4), size: size) else {
            preconditionFailure("a view has a size")
        }
        return bitmap
    }

    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        let length = direction == .horizontal ? extent.width : extent.height
        return (length, length)
    }

    override func layout(size: CGSize) {
        gtk_widget_allocate(view.gtkWidget, gint(extent.width), gint(extent.height), -1, nil)
    }

    override func draw(in snapshot: Snapshot) {
        super.draw(in: snapshot)
        drawings += 1
    }
}
