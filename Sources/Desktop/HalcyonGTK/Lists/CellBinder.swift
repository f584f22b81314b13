import CGtk4
import Halcyon

/// The work of an `ImageCellFactory`; lives as long as GTK's factory.
///
/// A cell that is bound shows an image from memory at once. Otherwise it waits for the end of the frame:
/// then it is known which cells are seen, and how large they are. These load with the highest priority;
/// what follows is prefetched with a low one. GTK binds many more cells than are seen, which have the
/// images that were prefetched, but load none.
@MainActor final class CellBinder {
    /// Makes a cell and the closure to call when it is bound.
    typealias Maker = @MainActor () -> (any ImageCell, @MainActor (ListItem) -> Void)

    private let make: Maker
    private let source: @MainActor (ListItem) -> Source?
    private let configuration: ImageCellConfiguration

    private var cells: [OpaquePointer: BoundCell] = [:]
    private var thumbnails: CellThumbnails
    private var window: ListWindow
    private weak var frameEnd: FrameEnd?
    private lazy var viewport = Viewport { [weak self] in self?.settleAfterFrame() }
    private lazy var prefetching = Prefetching { [weak self] in self?.settleAfterFrame() }

    init(
        configuration: ImageCellConfiguration, make: @escaping Maker,
        source: @escaping @MainActor (ListItem) -> Source?
    ) {
        self.configuration = configuration
        self.make = make
        self.source = source
        thumbnails = CellThumbnails(configuration)
        window = ListWindow(lookahead: configuration.prefetchCount)
    }

    var allCells: [BoundCell] { Array(cells.values) }

    // MARK: What GTK's factory asks for

    func setUp(_ item: OpaquePointer) {
        let (cell, configure) = make()
        cells[item] = BoundCell(cell, pointer: item, configure: configure)
        Signal.connect(cell.gtkWidget, "map") { [weak self] in self?.settleAfterFrame() }
        gtk_list_item_set_child(item, cell.gtkWidget)
    }

    func bind(_ item: OpaquePointer) {
        guard let bound = cells[item], let listItem = ListItem(item) else { return }
        bound.bind(to: listItem, source: source(listItem))
        nameItem(of: bound.cell)
        guard !showFromMemory(bound) else { return }
        bound.wait(showing: bound.source == nil ? nil : configuration.placeholder(listItem))
        settleAfterFrame()
    }

    /// Gives GTK's widget around a cell, which has the focus, the name of the cell.
    private func nameItem(of cell: any ImageCell) {
        guard let name = cell.accessibleName ?? cell.accessibleDescription,
            let parent = gtk_widget_get_parent(cell.gtkWidget)
        else { return }
        cgtk_set_accessible_name(parent, name)
    }

    func unbind(_ item: OpaquePointer) {
        cells[item]?.unbind()
    }

    func tearDown(_ item: OpaquePointer) {
        cells.removeValue(forKey: item)?.unbind()
        gtk_list_item_set_child(item, nil)
        if cells.isEmpty { prefetching.want([], options: []) }
    }

    // MARK: Loading

    private func settleAfterFrame() {
        guard frameEnd == nil, let cell = cells.values.first(where: { $0.cell.isMapped })?.cell,
            let clock = gtk_widget_get_frame_clock(cell.gtkWidget)
        else { return }
        frameEnd = FrameEnd.run(on: clock) { [weak self] in
            self?.frameEnd = nil
            self?.settle()
        }
    }

    /// Loads the visible cells and prefetches, after the layout of a frame.
    private func settle() {
        guard let list = cells.values.lazy.compactMap({ Viewport.list(around: $0.cell) }).first
        else { return }
        viewport.observe(list)
        let bound = cells.values.compactMap { cell in cell.position.map { (cell, $0) } }
        let seen = bound.filter { Viewport.shows($0.0.cell, in: list) }.sorted { $0.1 < $1.1 }
        guard let first = seen.first, let last = seen.last else { return }
        thumbnails.fit(first.0.cell.imageView)
        window.move(to: first.1..<last.1 + 1)

        let count = Viewport.model(of: list).map { Int(g_list_model_get_n_items($0)) } ?? 0
        let upcoming = window.upcoming(of: count)
        let kept = Set(seen.map(\.1) + upcoming)
        for (cell, position) in bound where cell.state == .loading && !kept.contains(position) {
            wait(cell)
        }
        for (cell, _) in seen where cell.state == .waiting { load(cell) }
        for (cell, _) in bound where cell.state == .waiting { showFromMemory(cell) }
        prefetch(upcoming, of: list)
    }

    @discardableResult
    private func showFromMemory(_ bound: BoundCell) -> Bool {
        guard let source = bound.source, isInMemory(source) else { return false }
        load(bound)
        return true
    }

    private func load(_ bound: BoundCell) {
        guard let options = thumbnails.options else { return }
        bound.load(options + [.downloadPriority(1)]) { [configuration] result in
            configuration.onResult(bound.cell, result)
        }
    }

    /// Ends the load of a cell that is bound, but neither seen nor about to be.
    private func wait(_ bound: BoundCell) {
        guard let item = ListItem(bound.pointer) else { return }
        bound.wait(showing: configuration.placeholder(item))
    }

    private func prefetch(_ positions: [Int], of list: UnsafeMutablePointer<GtkWidget>) {
        guard let options = thumbnails.options, let model = Viewport.model(of: list) else { return }
        let sources = positions.compactMap { position in
            ListItem.read(model, at: position, source) ?? nil
        }
        prefetching.want(
            sources.filter { !isInMemory($0) },
            options: options + [.downloadPriority(0.1), .alsoPrefetchToMemory])
    }

    private func isInMemory(_ source: Source) -> Bool {
        guard let options = thumbnails.parsed else { return false }
        let cache = options.targetCache ?? KingfisherManager.shared.cache
        return cache.retrieveImageInMemoryCache(
            forKey: options.cacheKey(of: source), options: options) != nil
    }
}
