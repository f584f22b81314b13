import CGtk4
import Foundation
import HalcyonGTK

/// A side view beside a main one; where there is no room for both, one of them.
final class SidePane: Canvas {
    /// In points. Below it, the side view is shown in place of the main one, if at all.
    static let leastWidth: CGFloat = 640

    private let side: View
    private let main: View
    private let isAtEnd: Bool
    /// Whether the side view is shown only if asked for, also where there is room.
    private let isOptional: Bool
    private let width: CGFloat

    /// Whether the side view is asked for, where it is not always shown.
    var showsSide = false {
        didSet { if showsSide != oldValue { setNeedsLayout() } }
    }

    private(set) var isNarrow = false
    /// Called when the room for both views has come or gone.
    var onNarrow: (@MainActor (_ isNarrow: Bool) -> Void)?

    init(side: View, main: View, width: CGFloat, isAtEnd: Bool = false, isOptional: Bool = false) {
        (self.side, self.main, self.width) = (side, main, width)
        (self.isAtEnd, self.isOptional) = (isAtEnd, isOptional)
        super.init()
        style("bare")
        for view in [side, main] { gtk_widget_set_parent(view.gtkWidget, gtkWidget) }
    }

    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        let lengths = [side, main].map { view in
            var (minimum, natural): (gint, gint) = (0, 0)
            gtk_widget_measure(
                view.gtkWidget,
                direction == .horizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL,
                -1, &minimum, &natural, nil, nil)
            return (minimum: CGFloat(minimum), natural: CGFloat(natural))
        }
        let minimum = lengths.map(\.minimum).max() ?? 0
        let natural = lengths.map(\.natural)
        return (
            minimum, direction == .horizontal ? natural.reduce(0, +) : natural.max() ?? 0
        )
    }

    override func layout(size: CGSize) {
        let isNarrow = size.width < Self.leastWidth
        let hasSide = isNarrow || isOptional ? showsSide : true
        let hasMain = !isNarrow || !hasSide
        gtk_widget_set_child_visible(side.gtkWidget, hasSide ? 1 : 0)
        gtk_widget_set_child_visible(main.gtkWidget, hasMain ? 1 : 0)
        let sideWidth = !hasSide ? 0 : hasMain ? min(width, size.width) : size.width
        let rest = size.width - sideWidth
        if hasSide { place(side, x: isAtEnd ? rest : 0, width: sideWidth, height: size.height) }
        if hasMain { place(main, x: isAtEnd ? 0 : sideWidth, width: rest, height: size.height) }
        guard isNarrow != self.isNarrow else { return }
        self.isNarrow = isNarrow
        // Others may need another layout, which has to wait for the end of this one.
        Task { [weak self] in self?.onNarrow?(isNarrow) }
    }

    private func place(_ view: View, x: CGFloat, width: CGFloat, height: CGFloat) {
        var origin = graphene_point_t(x: Float(x), y: 0)
        gtk_widget_allocate(
            view.gtkWidget, gint(width), gint(height), -1, gsk_transform_translate(nil, &origin))
    }
}
