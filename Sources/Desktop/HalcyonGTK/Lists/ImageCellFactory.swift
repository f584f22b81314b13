import CGtk4
public import Halcyon

/// Makes and binds the cells of a `GtkListView` or `GtkGridView` that show images.
///
/// Cells are reused for one item after the other. A visible cell loads its image with the highest
/// priority, made for the size of the cell; the next images are prefetched with a low one. An
/// unbound cell cancels its load, and no result for an earlier item reaches it.
///
/// The model may be any `GListModel`. To give the factory to a view, which takes a reference over:
/// `gtk_list_view_new(selection, g_object_ref(factory.pointer))`. The view then keeps all it needs.
@MainActor public final class ImageCellFactory {
    /// The `GtkSignalListItemFactory`.
    public let pointer: OpaquePointer

    let binder: CellBinder

    /// - Parameters:
    ///   - configuration: How images are loaded and shown.
    ///   - makeCell: Makes a new cell.
    ///   - source: Where the image of an item comes from; also asked for items that have no cell yet.
    ///   - configure: Called whenever a cell is bound to another item, before its image is set.
    public init<Cell: ImageCell>(
        configuration: ImageCellConfiguration = ImageCellConfiguration(),
        makeCell: @escaping @MainActor () -> Cell,
        source: @escaping @MainActor (ListItem) -> Source?,
        configure: @escaping @MainActor (Cell, ListItem) -> Void = { _, _ in }
    ) {
        let binder = CellBinder(
            configuration: configuration,
            make: {
                let cell = makeCell()
                return (cell, { configure(cell, $0) })
            }, source: source)
        self.binder = binder
        MainLoop.attach()
        pointer = gtk_signal_list_item_factory_new()
        let object = UnsafeMutableRawPointer(pointer)
        Signal.connectPassingArgument(object, "setup") { binder.setUp($0) }
        Signal.connectPassingArgument(object, "bind") { binder.bind($0) }
        Signal.connectPassingArgument(object, "unbind") { binder.unbind($0) }
        Signal.connectPassingArgument(object, "teardown") { binder.tearDown($0) }
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}
