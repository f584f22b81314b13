import CGtk4
public import Foundation

/// A view that draws itself and may carry other views; to be subclassed.
@MainActor open class Canvas: View {
    /// What the view is to those who do not see it.
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

    /// Draws the view and the views it carries, in an area from the origin to `size`.
    ///
    /// Called before a frame, when the view was told that it `setNeedsDisplay`. Draws the views it
    /// carries by default; what is drawn after them lies on top.
    open func draw(in snapshot: Snapshot) {
        drawChildren(in: snapshot)
    }

    /// Draws the views it carries, in their order.
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

    /// Gives the views it carries their places; called when the view has been given a new size, and
    /// when one of them wants another size.
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

    /// The widgets it carries.
    var children: [UnsafeMutablePointer<GtkWidget>] {
        var result: [UnsafeMutablePointer<GtkWidget>] = []
        var next = gtk_widget_get_first_child(gtkWidget)
        while let child = next {
            result.append(child)
            next = gtk_widget_get_next_sibling(child)
        }
        return result
    }
}
