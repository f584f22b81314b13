import CGtk4

/// A window that shows one view. It lives until it is closed, by the user or the program.
@MainActor open class Window: View {
    /// A window that is not on the screen yet.
    ///
    /// `width` and `height` are those of what it shows, in points; the user may change them.
    public init(title: String = "", width: Int = 800, height: Int = 600) {
        super.init(widget: gtk_window_new())
        gtk_window_set_title(pointer, title)
        gtk_window_set_default_size(pointer, gint(width), gint(height))
    }

    /// What it shows.
    public var content: View? {
        get { gtk_window_get_child(pointer).flatMap(View.of) }
        set { gtk_window_set_child(pointer, newValue?.gtkWidget) }
    }

    /// What stands above it.
    public var title: String {
        get { gtk_window_get_title(pointer).map { String(cString: $0) } ?? "" }
        set { gtk_window_set_title(pointer, newValue) }
    }

    /// Brings it on the screen, in front of others.
    public func present() {
        gtk_window_present(pointer)
    }

    /// Takes it from the screen for good.
    public func close() {
        gtk_window_destroy(pointer)
    }

    var pointer: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(gtkWidget).assumingMemoryBound(to: GtkWindow.self)
    }
}
