import CGtk4
import Foundation
import Halcyon

extension View {
    /// The colour of the text around the view.
    var textColor: Color {
        var color = GdkRGBA()
        gtk_style_context_get_color(gtk_widget_get_style_context(gtkWidget), &color)
        return Color(
            red: CGFloat(color.red), green: CGFloat(color.green), blue: CGFloat(color.blue),
            alpha: CGFloat(color.alpha))
    }
}
