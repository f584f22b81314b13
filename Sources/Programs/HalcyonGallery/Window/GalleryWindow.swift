import CGtk4
import Foundation
import Halcyon
import HalcyonGTK

/// The window: a list of pages at the left with the statistics below it, the page at the right.
@MainActor final class GalleryWindow {
    private let gallery: Gallery
    private let window: Window
    private let stack: OpaquePointer
    private let statistics: StatisticsPanel
    private var pages: [PageName: Box] = [:]

    init(_ gallery: Gallery, page: PageName, closed: @escaping @MainActor () -> Void) {
        Style.install()
        self.gallery = gallery
        statistics = StatisticsPanel(gallery)
        window = Window(title: "Halcyon Gallery", width: 1120, height: 760)
        let stackWidget: UnsafeMutablePointer<GtkWidget> = gtk_stack_new()
        stack = OpaquePointer(stackWidget)

        gtk_window_set_titlebar(window.widget.cast(), gtk_header_bar_new())
        window.content = makeContent(View(widget: stackWidget))
        for name in PageName.allCases {
            let box = Box(.column)
            pages[name] = box
            gtk_stack_add_titled(stack, box.widget, name.rawValue, name.title)
        }
        gtk_stack_set_visible_child_name(stack, page.rawValue)
        fill(page)

        Signal.connect(stackWidget, "notify::visible-child-name") { [weak self] in
            guard let self, let name = gtk_stack_get_visible_child_name(stack) else { return }
            if let page = PageName(rawValue: String(cString: name)) { fill(page) }
        }
        Signal.connect(window.widget, "close-request", closed)
    }

    func present() {
        window.present()
    }

    func close() {
        statistics.stop()
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

    private func makeContent(_ stack: View) -> View {
        let sidebar = View(widget: gtk_stack_sidebar_new())
        gtk_stack_sidebar_set_stack(OpaquePointer(sidebar.widget), self.stack)
        sidebar.expand(horizontally: false)
        let left = Box(.column, [sidebar, statistics])
        left.requestedSize = CGSize(width: 200, height: 0)
        // What is in it would like to be wider.
        left.expand(horizontally: false)
        let line = View(widget: gtk_separator_new(GTK_ORIENTATION_VERTICAL))
        return Box(.row, [left, line, stack.expand()])
    }

    private func fill(_ name: PageName) {
        guard let box = pages[name], gtk_widget_get_first_child(box.widget) == nil else { return }
        box.append(name.makeContent(gallery))
    }
}

/// The style sheet: on top of the theme, in colours that follow it.
@MainActor enum Style {
    static func install() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, sheet, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }

    private static let sheet = """
        halcyon { background: alpha(currentColor, 0.06); border-radius: 8px; }
        halcyon halcyon, halcyon.bare { background: none; border-radius: 0; }
        flowboxchild { padding: 0; }
        flowboxchild:hover { background: none; }
        gridview { background: none; padding: 12px 18px; }
        gridview > child { padding: 5px; border-radius: 10px; }
        stacksidebar row { padding-top: 5px; padding-bottom: 5px; }
        .page-title { font-size: 21px; font-weight: 800; }
        .page-text { opacity: 0.7; }
        .tile-title { font-weight: 600; }
        .use { font-size: 13px; color: @theme_selected_bg_color; font-weight: 600; }
        .detail { font-size: 12px; opacity: 0.65; }
        .statistics { padding: 14px 16px 16px 16px; border-top: 1px solid alpha(currentColor, 0.12); }
        .statistics-title { font-size: 11px; font-weight: 700; opacity: 0.55; }
        .figure { font-feature-settings: "tnum"; font-size: 12px; font-weight: 600; }
        .figure-name { font-size: 12px; opacity: 0.7; }
        .placeholder { opacity: 0.6; }
        .swatch-title { font-weight: 700; padding: 6px 10px; border-radius: 6px; }
        """
}
