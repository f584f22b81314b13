import ArgumentParser
import CGtk4
import Foundation
import Halcyon
import HalcyonGTK

/// The window: a list of pages at the left with the statistics below it, the page at the right; or one picture in
/// place of both.
@MainActor final class GalleryWindow {
    let window: Window
    let pane: SidePane
    private(set) lazy var viewer = PictureViewer(gallery) { [weak self] in self?.closePicture() }
    private let gallery: Gallery
    private let stack: OpaquePointer
    /// The pages, and the viewer.
    private let levels: OpaquePointer
    private let statistics: StatisticsPanel
    private var pages: [PageName: Box] = [:]

    private enum Level {
        static let pages = "pages"
        static let picture = "picture"
    }

    init(_ gallery: Gallery, page: PageName, closed: @escaping @MainActor () -> Void) {
        Style.install()
        self.gallery = gallery
        statistics = StatisticsPanel(gallery)
        window = Window(title: "Halcyon Gallery", width: 1120, height: 760).style("gallery")
        let stackWidget: UnsafeMutablePointer<GtkWidget> = gtk_stack_new()
        stack = OpaquePointer(stackWidget)
        let levelsWidget: UnsafeMutablePointer<GtkWidget> = gtk_stack_new()
        levels = OpaquePointer(levelsWidget)
        // The hidden ones need no room.
        gtk_stack_set_hhomogeneous(stack, 0)
        gtk_stack_set_hhomogeneous(levels, 0)
        pane = SidePane(
            side: Self.makeSidebar(stack, statistics), main: View(widget: stackWidget).expand(),
            width: 200)

        let header: UnsafeMutablePointer<GtkWidget> = gtk_header_bar_new()
        let pagesButton = TextButton("Pages") { [weak self] in self?.pane.showsSide.toggle() }
        gtk_header_bar_pack_start(OpaquePointer(header), pagesButton.widget)
        gtk_window_set_titlebar(window.widget.cast(), header)
        pagesButton.isHidden = true
        pane.onNarrow = { [weak pagesButton] in pagesButton?.isHidden = !$0 }
        window.content = View(widget: levelsWidget)
        gtk_stack_add_named(levels, pane.widget, Level.pages)
        gtk_stack_add_named(levels, viewer.widget, Level.picture)

        for name in PageName.allCases {
            let box = Box(.column)
            pages[name] = box
            gtk_stack_add_titled(stack, box.widget, name.rawValue, name.title)
        }
        gtk_stack_set_visible_child_name(stack, page.rawValue)
        fill(page)

        Signal.connect(stackWidget, "notify::visible-child-name") { [weak self] in
            guard let self, let name = gtk_stack_get_visible_child_name(stack) else { return }
            pane.showsSide = false
            if let page = PageName(rawValue: String(cString: name)) { fill(page) }
        }
        Signal.connect(window.widget, "close-request", closed)
        gallery.open = { [weak self] in self?.open($0) }
        Exchange.takeDrops(on: window) { [weak self] in self?.add($0) }
        takeKeys()
    }

    private static func makeSidebar(_ stack: OpaquePointer, _ statistics: StatisticsPanel) -> View {
        let list = View(widget: gtk_stack_sidebar_new())
        gtk_stack_sidebar_set_stack(OpaquePointer(list.widget), stack)
        list.expand(horizontally: false)
        return Box(.column, [list, statistics]).style("side")
    }

    private func takeKeys() {
        Shortcut.add(
            to: window, of: self,
            [
                .perhaps("<Control>w|<Control>q") { $0.requestClose() },
                .perhaps("<Control>o") { $0.choose() }, .perhaps("<Control>v") { $0.paste() },
                .perhaps("F9") { $0.togglePages() }, .perhaps("F11") { $0.toggleFullscreen() },
                .perhaps("Escape") { $0.leave() },
            ])
    }

    func present() {
        window.present()
    }

    func close() {
        statistics.stop()
        viewer.clear()
        gallery.open = { _ in }
        gallery.onPictures = []
        window.close()
    }

    func appeared() async throws {
        while !window.isMapped { try await Task.sleep(for: .milliseconds(10)) }
        // The start of a program is not what the figure is about.
        MainLoopMeter.reset()
    }

    func save(to file: URL) async throws {
        await statistics.refresh()
        guard let bitmap = await window.screenshot() else {
            throw GalleryFailure(
                description: "the window is not on the screen, so there is no picture of it.")
        }
        let image = Image(bitmap: bitmap)
        let data = try image.kf.data(format: .PNG, options: ImageEncodingOptions())
        try data.write(to: file)
    }

    func show(_ page: PageName) {
        gtk_stack_set_visible_child_name(stack, page.rawValue)
    }

    private func fill(_ name: PageName) {
        guard let box = pages[name], gtk_widget_get_first_child(box.widget) == nil else { return }
        box.append(name.makeContent(gallery))
    }

    // MARK: One picture

    var showsPicture: Bool {
        gtk_stack_get_visible_child_name(levels).map { String(cString: $0) } == Level.picture
    }

    func open(_ picture: Picture) {
        gtk_stack_set_visible_child_name(levels, Level.picture)
        viewer.show(picture)
    }

    private func closePicture() {
        gtk_stack_set_visible_child_name(levels, Level.pages)
        viewer.clear()
        gtk_widget_child_focus(pane.gtkWidget, GTK_DIR_TAB_FORWARD)
    }

    // MARK: Keys

    private func requestClose() -> Bool {
        gtk_window_close(window.gtkWidget.cast())
        return true
    }

    private func togglePages() -> Bool {
        pane.showsSide.toggle()
        return true
    }

    private func toggleFullscreen() -> Bool {
        let pointer: UnsafeMutablePointer<GtkWindow> = window.gtkWidget.cast()
        if gtk_window_is_fullscreen(pointer) != 0 {
            gtk_window_unfullscreen(pointer)
        } else {
            gtk_window_fullscreen(pointer)
        }
        return true
    }

    /// Leaves one thing at a time.
    private func leave() -> Bool {
        if gtk_window_is_fullscreen(window.gtkWidget.cast()) != 0 { return toggleFullscreen() }
        if showsPicture {
            closePicture()
            return true
        }
        guard pane.isNarrow, pane.showsSide else { return false }
        return togglePages()
    }

    // MARK: More pictures

    private func choose() -> Bool {
        Exchange.chooseFiles(over: window) { [weak self] in self?.add($0) }
        return true
    }

    private func paste() -> Bool {
        Exchange.paste(into: window) { [weak self] pasted in
            switch pasted {
            case .names(let names): self?.add(names)
            case .picture(let data): self?.add(data)
            }
        }
        return true
    }

    /// Adds pictures by their URLs or paths; a single one is opened. Others are told of on standard error.
    private func add(_ names: [String]) {
        var sources: [GallerySource] = []
        for name in names where !name.isEmpty {
            do {
                sources.append(try GallerySource(name))
            } catch {
                GalleryProgram.say(error.message)
            }
        }
        show(gallery.add(sources), isAlone: sources.count == 1)
    }

    private func add(_ data: Data) {
        do {
            show(try gallery.add(pasted: data), isAlone: true)
        } catch {
            GalleryProgram.say("the pasted picture cannot be kept: \(error.localizedDescription)")
        }
    }

    private func show(_ picture: Picture?, isAlone: Bool) {
        guard let picture else { return }
        show(.pictures)
        if isAlone { open(picture) } else if showsPicture { closePicture() }
    }
}

/// The style sheet: on top of the theme, in colours that follow it.
///
/// Text has a contrast of at least 4.5 to 1 to its background, in light and in dark windows. It is for windows of the
/// class `gallery`.
@MainActor enum Style {
    static func install() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, sheet, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }

    /// The classes of texts with colours of their own.
    nonisolated static let textClasses = [
        "page-text", "use", "failure", "detail", "statistics-title", "figure-name", "placeholder",
    ]

    private static let sheet = """
        .gallery halcyon { background: alpha(currentColor, 0.06); border-radius: 8px; }
        .gallery halcyon halcyon, .gallery halcyon.bare { background: none; border-radius: 0; }
        .gallery flowboxchild { padding: 0; }
        .gallery flowboxchild:hover { background: none; }
        .gallery gridview { background: none; padding: 12px 18px; }
        .gallery gridview > child { padding: 5px; border-radius: 10px; }
        .gallery stacksidebar row { min-height: 22px; padding: 3px 4px; }
        .gallery .side { border-right: 1px solid alpha(currentColor, 0.12); }
        .gallery .page-title { font-size: 21px; font-weight: 800; }
        .gallery .page-text { color: alpha(@theme_fg_color, 0.75); }
        .gallery .tile-title { font-weight: 600; }
        .gallery .picture-title { font-size: 12px; }
        .gallery .use { font-size: 13px; color: mix(@theme_selected_bg_color, @theme_fg_color, 0.6); font-weight: 600; }
        .gallery .failure { color: mix(@error_color, @theme_fg_color, 0.6); font-weight: 600; }
        .gallery .detail { font-size: 12px; color: alpha(@theme_fg_color, 0.75); }
        .gallery .statistics { padding: 14px 16px 16px 16px; border-top: 1px solid alpha(currentColor, 0.12); }
        .gallery .statistics-title { font-size: 11px; font-weight: 700; color: alpha(@theme_fg_color, 0.75); }
        .gallery .figure { font-feature-settings: "tnum"; font-size: 12px; font-weight: 600; }
        .gallery .figure-name { font-size: 12px; color: alpha(@theme_fg_color, 0.75); }
        .gallery .placeholder { color: alpha(@theme_fg_color, 0.75); }
        .gallery .swatch-title { font-weight: 700; padding: 6px 10px; border-radius: 6px; }
        """
}
