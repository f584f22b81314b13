import CGtk4
public import Halcyon

/// GTK's spinner.
@MainActor public final class Spinner: View, ActivityView {
    /// A spinner that does not turn.
    public init() {
        super.init(widget: gtk_spinner_new())
    }

    /// Whether it turns.
    public var isAnimating: Bool { gtk_spinner_get_spinning(OpaquePointer(gtkWidget)) != 0 }

    public func startAnimating() {
        gtk_spinner_start(OpaquePointer(gtkWidget))
    }

    public func stopAnimating() {
        gtk_spinner_stop(OpaquePointer(gtkWidget))
    }
}
