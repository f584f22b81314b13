import CGtk4

/// A window with one view. It lives until it is closed, by the user or the program.
@MainActor open class Window: View {
    /// A window that is not on the screen yet.
    ///
    /// `width` and `height` are the initial size of the content, in points.
    public init(title: String = "", width: Int = 800, height: Int = 600) {
        super.init(widget: gtk_window_new())
        gtk_window_set_title(pointer, title)
        gtk_window_set_default_size(pointer, gint(width), gint(height))
    }

    /// The view in the window.
    public var content: View? {
        get { gtk_window_get_child(pointer).flatMap(View.of) }
        set { gtk_window_set_child(pointer, newValue?.gtkWidget) }
    }

    /// The text of the title bar.
    public var title: String {
        get { gtk_window_get_title(pointer).map { String(cString: $0) } ?? "" }
        set { gtk_window_set_title(pointer, newValue) }
    }

    /// Shows the window, in front of others.
    public func present() {
        gtk_window_present(pointer)
    }

    /// Closes the window for good.
    public func close() {
        gtk_window_destroy(pointer)
    }

    var pointer: UnsafeMutablePointer<GtkWindow> { gtkWidget.cast() }
}
