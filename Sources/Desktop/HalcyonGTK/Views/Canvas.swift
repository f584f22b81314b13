import CGtk4
public import Foundation

/// A view that draws itself and may carry other views; to be subclassed.
@MainActor open class Canvas: View {
    /// The role of the view for assistive technologies.
    public enum AccessibleRole: Sendable {
        case image
        case group

        var gtkRole: GtkAccessibleRole {
            switch self {
            case .image: GTK_ACCESSIBLE_ROLE_IMG
            case .group: GTK_ACCESSIBLE_ROLE_GROUP
            }
        }
    }

    /// A view without content.
    public init(role: AccessibleRole = .group) {
        super.init(widget: CanvasWidget.make(role: role.gtkRole))
    }

    /// Draws the view and its children, in an area from the origin to `size`.
    ///
    /// Called before a frame, after `setNeedsDisplay()`. Draws the children by default; later
    /// drawing lies on top of them.
    open func draw(in snapshot: Snapshot) {
        drawChildren(in: snapshot)
    }

    /// Draws the children, in their order.
    public func drawChildren(in snapshot: Snapshot) {
        for child in children {
            gtk_widget_snapshot_child(gtkWidget, child, snapshot.pointer)
        }
    }

    /// The least and the preferred length of the view, in points; 0 by default.
    ///
    /// `other` is the length in the other direction, when that is known already.
    open func measure(_ direction: Direction, other: CGFloat?) -> (
        minimum: CGFloat, natural: CGFloat
    ) {
        (0, 0)
    }

    /// Whether the height depends on the width; `false` by default.
    open var heightDependsOnWidth: Bool { false }

    /// Lays out the children; called after the view was resized, and when a child requests another
    /// size.
    open func layout(size: CGSize) {}

    /// Called when the view comes on the screen.
    open func didAppear() {}

    /// Called when the view leaves the screen.
    open func willDisappear() {}

    /// A direction of the screen.
    public enum Direction: Sendable {
        case horizontal
        case vertical
    }

    var children: [UnsafeMutablePointer<GtkWidget>] {
        guard let first = gtk_widget_get_first_child(gtkWidget) else { return [] }
        return Array(sequence(first: first) { gtk_widget_get_next_sibling($0) })
    }
}
