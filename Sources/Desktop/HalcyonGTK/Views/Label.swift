import CGtk4
import Foundation
import Halcyon

/// A line or paragraph of text.
@MainActor open class Label: View {
    /// A label that shows `text`.
    public init(_ text: String = "") {
        super.init(widget: gtk_label_new(text))
    }

    /// The text, shown as it is, without markup.
    public var text: String {
        get { String(cString: gtk_label_get_text(pointer)) }
        set { gtk_label_set_text(pointer, newValue) }
    }

    /// Whether lines that are too long go on below; `false` by default.
    public var wraps: Bool {
        get { gtk_label_get_wrap(pointer) != 0 }
        set { gtk_label_set_wrap(pointer, newValue ? 1 : 0) }
    }

    private var pointer: OpaquePointer { OpaquePointer(gtkWidget) }
}

extension View {
    var textColor: Color {
        var color = GdkRGBA()
        gtk_style_context_get_color(gtk_widget_get_style_context(gtkWidget), &color)
        return Color(
            red: CGFloat(color.red), green: CGFloat(color.green), blue: CGFloat(color.blue),
            alpha: CGFloat(color.alpha))
    }
}
