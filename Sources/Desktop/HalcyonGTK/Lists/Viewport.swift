import CGtk4
import Foundation

/// The part of a list that is seen, and its movements.
@MainActor final class Viewport {
    private let moved: @MainActor () -> Void
    private var observed: [Observation] = []

    /// An adjustment, which is kept, and its connections.
    private struct Observation {
        let object: UnsafeMutableRawPointer
        let handlers: [gulong]

        @MainActor func end() {
            for handler in handlers { Signal.disconnect(object, handler) }
            g_object_unref(object)
        }
    }

    /// - Parameter moved: Called when the list is scrolled or has got another size.
    init(moved: @escaping @MainActor () -> Void) {
        self.moved = moved
    }

    isolated deinit {
        for observation in observed { observation.end() }
    }

    /// The scrollable widget that `cell` is in: a list view, a grid view or a viewport.
    static func list(around cell: View) -> UnsafeMutablePointer<GtkWidget>? {
        gtk_widget_get_ancestor(cell.gtkWidget, gtk_scrollable_get_type())
    }

    /// Whether any of `cell`, which may be without extent, is in the seen part of `list`.
    static func shows(_ cell: View, in list: UnsafeMutablePointer<GtkWidget>) -> Bool {
        guard cell.isMapped else { return false }
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(cell.gtkWidget, list, &bounds) != 0 else { return false }
        func isSeen(_ start: Float, _ length: Float, of whole: gint) -> Bool {
            start < Float(whole) && (length > 0 ? start + length > 0 : start >= 0)
        }
        return isSeen(bounds.origin.x, bounds.size.width, of: gtk_widget_get_width(list))
            && isSeen(bounds.origin.y, bounds.size.height, of: gtk_widget_get_height(list))
    }

    /// The model of `list`, when that is a list view or a grid view.
    static func model(of list: UnsafeMutablePointer<GtkWidget>) -> OpaquePointer? {
        let pointer = OpaquePointer(list)
        if list.isInstance(of: gtk_list_view_get_type()) { return gtk_list_view_get_model(pointer) }
        if list.isInstance(of: gtk_grid_view_get_type()) { return gtk_grid_view_get_model(pointer) }
        return nil
    }

    /// Tells of the movements of `list` from here on, and no longer of those of another.
    func observe(_ list: UnsafeMutablePointer<GtkWidget>) {
        let pointer = OpaquePointer(list)
        let adjustments = [
            gtk_scrollable_get_hadjustment(pointer), gtk_scrollable_get_vadjustment(pointer),
        ].compactMap { $0.map { UnsafeMutableRawPointer($0) } }
        guard adjustments != observed.map(\.object) else { return }
        for observation in observed { observation.end() }
        observed = adjustments.map { adjustment in
            g_object_ref(adjustment)
            let handlers = ["value-changed", "changed"].map { name in
                Signal.connect(adjustment, name) { [weak self] in self?.moved() }
            }
            return Observation(object: adjustment, handlers: handlers)
        }
    }
}

extension UnsafeMutablePointer<GtkWidget> {
    func isInstance(of type: GType) -> Bool {
        g_type_check_instance_is_a(cast(), type) != 0
    }
}
