import CGtk4
import Foundation

extension ZoomableImageView {
    /// One turn of the wheel, and one key.
    private static let step: CGFloat = 1.25
    /// Points that an arrow key moves the picture by.
    private static let arrow: CGFloat = 80

    func takeInput() {
        gtk_widget_set_focusable(gtkWidget, 1)
        takeKeys()
        takePointer()
        takeDrag()
        takePinch()
    }

    private func takeKeys() {
        func pan(_ key: String, x: CGFloat, y: CGFloat) -> Shortcut<ZoomableImageView> {
            .perhaps("\(key)|KP_\(key)") { $0.pan(x: x * Self.arrow, y: y * Self.arrow) }
        }
        Shortcut.add(
            to: self, of: self,
            [
                .always("plus|equal|KP_Add") { $0.zoom *= Self.step },
                .always("minus|KP_Subtract") { $0.zoom /= Self.step },
                .always("0|KP_0") { $0.zoomToFit() }, .always("1|KP_1") { $0.zoom = 1 },
                pan("Left", x: -1, y: 0), pan("Right", x: 1, y: 0), pan("Up", x: 0, y: -1),
                pan("Down", x: 0, y: 1),
            ])
    }

    private func takePointer() {
        guard let motion = gtk_event_controller_motion_new(),
            let scroll = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES),
            let click = gtk_gesture_click_new()
        else { return }
        Signal.connectPassingNumbers(UnsafeMutableRawPointer(motion), "motion") {
            [weak self] x, y in
            self?.pointer = CGPoint(x: x, y: y)
            return false
        }
        Signal.connect(UnsafeMutableRawPointer(motion), "leave") { [weak self] in
            self?.pointer = nil
        }
        Signal.connectPassingNumbers(UnsafeMutableRawPointer(scroll), "scroll") {
            [weak self] x, y in
            let keys = gtk_event_controller_get_current_event_state(scroll).rawValue
            let isWheel = gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_WHEEL
            guard isWheel || keys & GDK_CONTROL_MASK.rawValue != 0 else {
                return self?.pan(x: x, y: y) ?? false
            }
            guard let self, y != 0 else { return false }
            // A touchpad tells points, not turns.
            zoom(to: zoom * pow(Self.step, -(isWheel ? y : y / 20)), around: pointer)
            return true
        }
        Signal.connectPassingNumber(UnsafeMutableRawPointer(click), "pressed") {
            [weak self] count in
            guard let self else { return }
            gtk_widget_grab_focus(gtkWidget)
            guard count == 2 else { return }
            if isFitted, zoom < 1 { zoom(to: 1, around: pointer) } else { zoomToFit() }
        }
        for controller in [motion, scroll, click] {
            // The widget owns it from here on.
            gtk_widget_add_controller(gtkWidget, controller)
        }
    }

    private func takeDrag() {
        guard let drag = gtk_gesture_drag_new() else { return }
        Signal.connectPassingNumbers(UnsafeMutableRawPointer(drag), "drag-begin") {
            [weak self] _, _ in
            guard let self else { return false }
            gestureStart = geometry
            return false
        }
        Signal.connectPassingNumbers(UnsafeMutableRawPointer(drag), "drag-update") {
            [weak self] x, y in
            guard let self else { return false }
            let (start, scale) = (gestureStart.center, scaleFactor / geometry.zoom)
            change { $0.move(to: CGPoint(x: start.x - x * scale, y: start.y - y * scale)) }
            return false
        }
        gtk_widget_add_controller(gtkWidget, drag)
    }

    private func takePinch() {
        guard let pinch = gtk_gesture_zoom_new() else { return }
        let object = UnsafeMutableRawPointer(pinch)
        Signal.connect(object, "begin") { [weak self] in
            if let self { gestureStart = geometry }
        }
        Signal.connect(object, "scale-changed") { [weak self] in
            var (x, y) = (0.0, 0.0)
            let hasCenter = gtk_gesture_get_bounding_box_center(pinch, &x, &y) != 0
            guard let self else { return }
            zoom(
                to: gestureStart.zoom * gtk_gesture_zoom_get_scale_delta(pinch),
                around: hasCenter ? CGPoint(x: x, y: y) : nil)
        }
        gtk_widget_add_controller(gtkWidget, pinch)
    }
}

/// Keys as GTK writes them, such as `plus|<Control>plus`, and what they do.
@MainActor package struct Shortcut<Owner: AnyObject> {
    private let keys: String
    private let action: @MainActor (Owner) -> Bool

    /// - Parameter action: Returns whether it has taken the key.
    package static func perhaps(
        _ keys: String, _ action: @escaping @MainActor (Owner) -> Bool
    ) -> Shortcut {
        Shortcut(keys: keys, action: action)
    }

    package static func always(
        _ keys: String, _ action: @escaping @MainActor (Owner) -> Void
    ) -> Shortcut {
        Shortcut(keys: keys) {
            action($0)
            return true
        }
    }

    /// Has keys call actions of `owner`, which is not kept alive, while the focus is in `view`, unless a view inside
    /// has taken them.
    package static func add(to view: View, of owner: Owner, _ shortcuts: [Shortcut]) {
        guard let controller = gtk_shortcut_controller_new() else { return }
        for shortcut in shortcuts {
            let call: Call = { [weak owner] in owner.map(shortcut.action) ?? false }
            let callback = gtk_callback_action_new(
                { _, _, data in
                    guard let data else { return 0 }
                    let call = Retained<@MainActor () -> Bool>.value(data)
                    return MainActor.assumeIsolated { call() ? 1 : 0 }
                }, Retained<Call>.pointer(call), releaseRetained)
            gtk_shortcut_controller_add_shortcut(
                controller,
                gtk_shortcut_new(gtk_shortcut_trigger_parse_string(shortcut.keys), callback))
        }
        gtk_widget_add_controller(view.gtkWidget, controller)
    }

    private typealias Call = @MainActor () -> Bool
}
