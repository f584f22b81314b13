import CGtk4
public import HalcyonGTK

/// The keys, the wheel and the pointer, as a user has them: the handlers of a view are asked as GTK asks them.
@MainActor public struct Input {
    private let view: View

    /// - Parameter view: The view that has the focus and that the pointer is in.
    public init(_ view: View) {
        self.view = view
    }

    /// Presses a key, as GTK writes it, such as `plus` or `<Control>o`. The view is asked first, then those around it.
    ///
    /// - Returns: Whether one of them has taken it.
    @discardableResult
    public func press(_ key: String) -> Bool {
        var widget: UnsafeMutablePointer<GtkWidget>? = view.gtkWidget
        while let current = widget {
            for shortcuts in controllers(of: current, named: "GtkShortcutController") {
                for shortcut in Self.objects(in: shortcuts) where triggers(shortcut, key) {
                    guard let action = gtk_shortcut_get_action(OpaquePointer(shortcut)),
                        name(of: UnsafeMutableRawPointer(action)) == "GtkCallbackAction"
                    else { continue }
                    let isTaken = gtk_shortcut_action_activate(
                        action, GtkShortcutActionFlags(0), current, nil)
                    if isTaken != 0 { return true }
                }
            }
            widget = gtk_widget_get_parent(current)
        }
        return false
    }

    /// Turns the wheel: a positive number is downwards.
    public func scroll(_ turns: Double) {
        for controller in controllers() { cgtk_emit_scroll(controller, 0, turns) }
    }

    /// Moves the pointer to a point of the view.
    public func move(x: Double, y: Double) {
        for controller in controllers(of: view.gtkWidget, named: "GtkEventControllerMotion") {
            cgtk_emit_point(controller, "motion", x, y)
        }
    }

    /// Drags by so many points.
    public func drag(x: Double, y: Double) {
        for controller in controllers(of: view.gtkWidget, named: "GtkGestureDrag") {
            cgtk_emit_point(controller, "drag-begin", 1, 1)
            cgtk_emit_point(controller, "drag-update", x, y)
        }
    }

    public func doubleClick() {
        for count in 1...2 as ClosedRange<Int32> {
            for controller in controllers() { cgtk_emit_press(controller, count) }
        }
    }

    /// Drops a file.
    ///
    /// - Returns: Whether the view has taken it.
    public func drop(file path: String) -> Bool {
        controllers(of: view.gtkWidget, named: "GtkDropTarget").contains { target in
            cgtk_emit_file_drop(target, path) != 0
        }
    }

    private func triggers(_ shortcut: UnsafeMutableRawPointer, _ key: String) -> Bool {
        guard let trigger = gtk_shortcut_get_trigger(OpaquePointer(shortcut)),
            let text = gtk_shortcut_trigger_to_string(trigger)
        else { return false }
        defer { g_free(text) }
        return String(cString: text).split(separator: "|").contains { $0 == key }
    }

    private func controllers(
        of widget: UnsafeMutablePointer<GtkWidget>? = nil, named name: String? = nil
    ) -> [UnsafeMutableRawPointer] {
        guard let list = gtk_widget_observe_controllers(widget ?? view.gtkWidget) else { return [] }
        let object = UnsafeMutableRawPointer(list)
        defer { g_object_unref(object) }
        return Self.objects(in: object).filter { name == nil || self.name(of: $0) == name }
    }

    private func name(of object: UnsafeMutableRawPointer) -> String? {
        cgtk_type_name(object).map { String(cString: $0) }
    }

    /// The objects of a `GListModel`, which keeps them.
    private static func objects(in list: UnsafeMutableRawPointer) -> [UnsafeMutableRawPointer] {
        let list = OpaquePointer(list)
        return (0..<g_list_model_get_n_items(list)).compactMap { index in
            guard let object = g_list_model_get_item(list, index) else { return nil }
            g_object_unref(object)
            return object
        }
    }
}
