import CGtk4
public import Foundation
public import Halcyon

/// A scrolling list or grid of any number of images, which reuses its cells.
@MainActor public final class ImageCollectionView<Item>: View {
    /// The arrangement of the items.
    public enum Layout: Hashable, Sendable {
        /// One below the other.
        case list
        /// In rows of as many as fit, within these bounds.
        case grid(columns: ClosedRange<Int>)
    }

    /// The items of the list. Setting them replaces all.
    public var items: [Item] {
        get { contents.items }
        set {
            contents.items = newValue
            setCount(newValue.count)
        }
    }

    /// Called with an item that is clicked, or chosen by Enter; `nil`, the default, makes nothing of it.
    public var onActivate: (@MainActor (Item) -> Void)? {
        didSet {
            let isOn: gboolean = onActivate == nil ? 0 : 1
            if list.isInstance(of: gtk_grid_view_get_type()) {
                gtk_grid_view_set_single_click_activate(OpaquePointer(list), isOn)
            } else {
                gtk_list_view_set_single_click_activate(OpaquePointer(list), isOn)
            }
        }
    }

    private let contents: Contents
    private let list: UnsafeMutablePointer<GtkWidget>
    let pacing = ScrollPacing()
    /// A model of empty objects: the views ask for items by their position.
    private let store: OpaquePointer
    let binder: CellBinder

    /// The items, which the cells ask for.
    @MainActor private final class Contents {
        var items: [Item]

        init(_ items: [Item]) {
            self.items = items
        }

        subscript(_ item: ListItem) -> Item? {
            items.indices.contains(item.position) ? items[item.position] : nil
        }
    }

    /// - Parameters:
    ///   - layout: The arrangement of the cells.
    ///   - items: The initial items.
    ///   - configuration: The settings by which cells load their images.
    ///   - makeCell: Makes a new cell.
    ///   - source: Returns the image source of an item.
    ///   - configure: Called whenever a cell is bound to another item, before its image is set.
    public init<Cell: ImageCell>(
        _ layout: Layout = .list, items: [Item] = [],
        configuration: ImageCellConfiguration = ImageCellConfiguration(),
        makeCell: @escaping @MainActor () -> Cell,
        source: @escaping @MainActor (Item) -> Source?,
        configure: @escaping @MainActor (Cell, Item) -> Void = { _, _ in }
    ) {
        let contents = Contents(items)
        let store: OpaquePointer = g_list_store_new(g_object_get_type())
        let factory = ImageCellFactory(
            configuration: configuration, makeCell: makeCell,
            source: { item in contents[item].flatMap(source) },
            configure: { cell, item in
                if let item = contents[item] { configure(cell, item) }
            })
        self.contents = contents
        self.store = store
        binder = factory.binder
        // Views take over the references of model and factory.
        let model = gtk_no_selection_new(
            OpaquePointer(g_object_ref(UnsafeMutableRawPointer(store))))
        let shared = OpaquePointer(g_object_ref(UnsafeMutableRawPointer(factory.pointer)))
        let list: UnsafeMutablePointer<GtkWidget>
        switch layout {
        case .list: list = gtk_list_view_new(model, shared)
        case .grid(let columns):
            list = gtk_grid_view_new(model, shared)
            gtk_grid_view_set_max_columns(OpaquePointer(list), guint(columns.upperBound))
            gtk_grid_view_set_min_columns(OpaquePointer(list), guint(columns.lowerBound))
        }
        self.list = list
        super.init(widget: gtk_scrolled_window_new())
        gtk_scrolled_window_set_child(OpaquePointer(gtkWidget), list)
        Signal.connectPassingNumber(list, "activate") { [weak self] position in
            guard let self, self.items.indices.contains(position) else { return }
            onActivate?(self.items[position])
        }
        setCount(items.count)
        pacing.follow(self)
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(store))
    }

    private func setCount(_ count: Int) {
        var objects: [gpointer?] = (0..<count).map { _ in
            g_object_new_with_properties(g_object_get_type(), 0, nil, nil).map {
                UnsafeMutableRawPointer($0)
            }
        }
        g_list_store_splice(
            store, 0, g_list_model_get_n_items(store), &objects, guint(objects.count))
        // The store has references of its own.
        for object in objects { g_object_unref(object) }
    }

    /// The vertical scroll position, in points, from 0 to the content height less the visible
    /// height.
    public var scrollOffset: CGFloat {
        get { gtk_adjustment_get_value(adjustment) }
        set { gtk_adjustment_set_value(adjustment, newValue) }
    }

    /// The height of the content, in points, as far as it is known.
    public var contentHeight: CGFloat { gtk_adjustment_get_upper(adjustment) }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
        gtk_scrolled_window_get_vadjustment(OpaquePointer(gtkWidget))
    }
}
