import CGtk4
import Foundation

/// Lets the wheel move a list once in each frame.
///
/// GTK 4.8 has forgotten where the rows of a grid are between a movement and the next layout: it warns of a second
/// movement in one frame and does not make it. Turns that come too soon are made together after the frame.
@MainActor final class ScrollPacing {
    private weak var view: View?
    /// Points that are still to be moved by.
    private var held: CGFloat = 0
    private weak var frameEnd: FrameEnd?

    /// Begins with a view of a scrolled window.
    func follow(_ view: View) {
        self.view = view
        guard let scroll = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)
        else { return }
        gtk_event_controller_set_propagation_phase(scroll, GTK_PHASE_CAPTURE)
        Signal.connectPassingNumbers(UnsafeMutableRawPointer(scroll), "scroll") {
            [weak self] _, amount in
            let isWheel = gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_WHEEL
            return self?.holds(amount, isWheel: isWheel) ?? false
        }
        gtk_widget_add_controller(view.gtkWidget, scroll)
    }

    /// Whether a movement has to wait for the frame of the one before; otherwise it is GTK's.
    ///
    /// - Parameter amount: Turns of the wheel, or what a touchpad tells.
    func holds(_ amount: CGFloat, isWheel: Bool) -> Bool {
        guard let view, let adjustment,
            let clock = gtk_widget_get_frame_clock(view.gtkWidget)
        else { return false }
        guard frameEnd == nil else {
            // As far as GTK moves.
            held += amount * (isWheel ? pow(gtk_adjustment_get_page_size(adjustment), 2 / 3) : 2.5)
            return true
        }
        frameEnd = FrameEnd.run(on: clock) { [weak self] in self?.release() }
        return false
    }

    private func release() {
        frameEnd = nil
        guard held != 0, let view, let adjustment,
            let clock = gtk_widget_get_frame_clock(view.gtkWidget)
        else { return }
        gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + held)
        held = 0
        frameEnd = FrameEnd.run(on: clock) { [weak self] in self?.release() }
    }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
        view.flatMap { gtk_scrolled_window_get_vadjustment(OpaquePointer($0.gtkWidget)) }
    }
}
