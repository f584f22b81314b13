import CGtk4

/// One item of the model behind a list or grid.
@MainActor public struct ListItem {
    /// Its place in the model, from 0; may change while the item is bound.
    public let position: Int
    /// The item itself, a `GObject` of the model. Valid during the call that was given it.
    public let object: UnsafeMutableRawPointer
}

extension ListItem {
    /// The item that a `GtkListItem` is bound to, if it is.
    init?(_ pointer: OpaquePointer) {
        let position = gtk_list_item_get_position(pointer)
        guard let object = gtk_list_item_get_item(pointer), position != GTK_INVALID_LIST_POSITION
        else { return nil }
        self.init(position: Int(position), object: object)
    }

    /// Calls `body` with item `position` of a `GListModel`, if there is one.
    static func read<Result>(
        _ model: OpaquePointer, at position: Int, _ body: (ListItem) -> Result
    ) -> Result? {
        guard position >= 0, let object = g_list_model_get_item(model, guint(position)) else {
            return nil
        }
        defer { g_object_unref(object) }
        return body(ListItem(position: position, object: object))
    }
}
