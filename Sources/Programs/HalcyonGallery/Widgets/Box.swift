import CGtk4
import Foundation
import Halcyon
import HalcyonGTK

class Box: View {
    enum Direction {
        case row
        case column
    }

    init(_ direction: Direction, spacing: Int = 0, _ views: [View] = []) {
        super.init(
            widget: gtk_box_new(
                direction == .row ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL,
                gint(spacing)))
        for view in views { append(view) }
    }

    func append(_ view: View) {
        gtk_box_append(widget.cast(), view.widget)
    }
}

final class Scroller: View {
    init(_ view: View) {
        super.init(widget: gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(
            OpaquePointer(widget), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(OpaquePointer(widget), view.widget)
        expand()
    }
}

final class TextButton: View {
    init(_ title: String, _ action: @escaping @MainActor () -> Void) {
        super.init(widget: gtk_button_new_with_label(title))
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        Signal.connect(UnsafeMutableRawPointer(widget), "clicked", action)
    }

    func setTitle(_ title: String) {
        gtk_button_set_label(widget.cast(), title)
    }

    /// The name for those who do not see the sign on the button.
    func named(_ name: String) -> Self {
        accessibleName = name
        gtk_widget_set_tooltip_text(widget, name)
        return self
    }
}

extension View {
    @discardableResult
    func expand(horizontally: Bool = true, vertically: Bool = true) -> Self {
        gtk_widget_set_hexpand(widget, horizontally ? 1 : 0)
        gtk_widget_set_vexpand(widget, vertically ? 1 : 0)
        return self
    }

    /// Sets the margins, in points.
    @discardableResult
    func margins(_ width: Int, _ height: Int? = nil) -> Self {
        gtk_widget_set_margin_start(widget, gint(width))
        gtk_widget_set_margin_end(widget, gint(width))
        gtk_widget_set_margin_top(widget, gint(height ?? width))
        gtk_widget_set_margin_bottom(widget, gint(height ?? width))
        return self
    }

    @discardableResult
    func style(_ name: String...) -> Self {
        for name in name { gtk_widget_add_css_class(widget, name) }
        return self
    }

    /// Aligns the view with the leading edge, at its own width.
    @discardableResult
    func leading() -> Self {
        gtk_widget_set_halign(widget, GTK_ALIGN_START)
        return self
    }
}

extension Color {
    fileprivate var css: String {
        let parts = [red, green, blue].map { "\(Int((min(max($0, 0), 1) * 255).rounded()))" }
        return "rgb(\(parts.joined(separator: ", ")))"
    }
}

extension Label {
    /// Sets the colours of text and background, whatever the theme says.
    func coloured(_ text: Color, on background: Color) -> Self {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(
            provider, "label { color: \(text.css); background: \(background.css); }", -1)
        gtk_style_context_add_provider(
            gtk_widget_get_style_context(widget), OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
        return self
    }

    func show(_ text: String) {
        if self.text != text { self.text = text }
    }

    func centred() -> Self {
        gtk_label_set_justify(OpaquePointer(widget), GTK_JUSTIFY_CENTER)
        return self
    }

    /// A label at the leading edge in a class of the style sheet, of at most so many lines.
    convenience init(_ text: String, style: String, lines: Int = 1) {
        self.init(text)
        self.style(style)
        wraps = lines > 1
        gtk_label_set_xalign(OpaquePointer(widget), 0)
        gtk_label_set_ellipsize(OpaquePointer(widget), PANGO_ELLIPSIZE_END)
        guard wraps else { return }
        gtk_label_set_lines(OpaquePointer(widget), gint(lines))
        if lines == 2 { gtk_label_set_max_width_chars(OpaquePointer(widget), 24) }
        gtk_label_set_wrap_mode(OpaquePointer(widget), PANGO_WRAP_WORD_CHAR)
    }
}
