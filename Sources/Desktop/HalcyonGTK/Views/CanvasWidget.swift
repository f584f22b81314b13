import CGtk4
import Foundation

/// The GTK class behind `Canvas`: each of its methods asks the Swift object.
///
/// When the object is gone or going, the widget draws nothing and has no size.
enum CanvasWidget {
    @MainActor static func make(role: GtkAccessibleRole) -> UnsafeMutablePointer<GtkWidget> {
        guard let object = g_object_new_with_properties(type, 0, nil, nil) else {
            preconditionFailure("GTK is not initialised")
        }
        let widget = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWidget.self)
        cgtk_set_accessible_role(widget, role)
        return widget
    }

    @MainActor private static let type = cgtk_register_widget_class("HalcyonCanvas") { methods, _ in
        guard let methods = methods?.assumingMemoryBound(to: GtkWidgetClass.self) else { return }
        gtk_widget_class_set_css_name(methods, "halcyon")
        CanvasWidget.override(methods)
    }

    private static func override(_ methods: UnsafeMutablePointer<GtkWidgetClass>) {
        cgtk_set_dispose(methods) { object in
            guard let object else { return }
            let widget = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWidget.self)
            while let child = gtk_widget_get_first_child(widget) { gtk_widget_unparent(child) }
            cgtk_dispose_widget(object)
        }
        methods.pointee.snapshot = { widget, pointer in
            nonisolated(unsafe) let pointer = pointer
            CanvasWidget.withCanvas(of: widget) { canvas in
                if let pointer { canvas.draw(in: Snapshot(pointer: pointer)) }
            }
        }
        methods.pointee.size_allocate = { widget, width, height, _ in
            CanvasWidget.withCanvas(of: widget) {
                $0.layout(size: CGSize(width: Int(width), height: Int(height)))
            }
        }
        methods.pointee.get_request_mode = { widget in
            var depends = false
            CanvasWidget.withCanvas(of: widget) { depends = $0.heightDependsOnWidth }
            return depends ? GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH : GTK_SIZE_REQUEST_CONSTANT_SIZE
        }
        methods.pointee.measure = { widget, orientation, other, minimum, natural, low, high in
            var lengths: (minimum: CGFloat, natural: CGFloat) = (0, 0)
            CanvasWidget.withCanvas(of: widget) {
                lengths = $0.measure(
                    orientation == GTK_ORIENTATION_HORIZONTAL ? .horizontal : .vertical,
                    other: other < 0 ? nil : CGFloat(other))
            }
            minimum?.pointee = gint(points: lengths.minimum)
            natural?.pointee = gint(points: max(lengths.natural, lengths.minimum))
            low?.pointee = -1
            high?.pointee = -1
        }
        methods.pointee.map = { widget in
            CanvasWidget.parent?.pointee.map(widget)
            CanvasWidget.withCanvas(of: widget) { $0.didAppear() }
        }
        methods.pointee.unmap = { widget in
            CanvasWidget.withCanvas(of: widget) { $0.willDisappear() }
            CanvasWidget.parent?.pointee.unmap(widget)
        }
    }

    private static var parent: UnsafeMutablePointer<GtkWidgetClass>? {
        g_type_class_peek(gtk_widget_get_type())?.assumingMemoryBound(to: GtkWidgetClass.self)
    }

    /// GTK calls the methods of widgets on the main thread only.
    private static func withCanvas(
        of widget: UnsafeMutablePointer<GtkWidget>?, _ body: @MainActor (Canvas) -> Void
    ) {
        nonisolated(unsafe) let widget = widget
        MainActor.assumeIsolated {
            if let widget, let canvas = View.of(widget) as? Canvas { body(canvas) }
        }
    }
}
