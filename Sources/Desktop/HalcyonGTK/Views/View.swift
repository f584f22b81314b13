public import CGtk4
public import Foundation
public import Halcyon

/// A Swift wrapper of a GTK widget, with which any widget can be a placeholder, an indicator or a
/// failure view.
///
/// The object and its widget live together: the object retains the widget, and a widget with other
/// references (such as that of its container) retains the object. Both are released when neither
/// the program nor GTK refers to them. Views belong to the main thread, and are made after GTK has
/// been initialised by `Application.run`, `gtk_init` or `Application.hasDisplay`.
@MainActor open class View: KFCrossPlatformView {
    /// The widget, to be put into any GTK container.
    ///
    /// The view, and with it the widget, is retained until the main loop's next iteration, so that
    /// there is time to do that even without another reference to the view:
    ///
    /// ```swift
    /// gtk_box_append(box, Label("Cat").widget)
    /// ```
    public var widget: UnsafeMutablePointer<GtkWidget> {
        ViewAutoreleasePool.keep(self)
        return gtkWidget
    }

    /// The widget, for callers that retain the view as long as they use it.
    package let gtkWidget: UnsafeMutablePointer<GtkWidget>

    /// Whether the autorelease pool retains the view.
    var isAutoreleased = false

    private let isMainView: Bool
    /// Whether the widget has other references, and so retains this object.
    private var isHeldByWidget = false

    /// A view of `widget`. Takes over the floating reference, or adds one.
    ///
    /// The first view of a widget is the one that `View.of` returns; the widget does not retain
    /// further ones.
    public init(widget: UnsafeMutablePointer<GtkWidget>) {
        gtkWidget = widget
        isMainView = g_object_get_qdata(widget.object, Self.key) == nil
        MainLoop.attach()
        g_object_ref_sink(widget)
        guard isMainView else { return }
        g_object_set_qdata(widget.object, Self.key, opaqueSelf)
        g_object_add_toggle_ref(widget.object, Self.holdersChanged, opaqueSelf)
        g_object_unref(widget)
        if cgtk_reference_count(widget) > 1 { holdersChanged(isLast: false) }
    }

    isolated deinit {
        guard isMainView else { return g_object_unref(gtkWidget) }
        // From here on the widget's hooks find no view.
        g_object_set_qdata(gtkWidget.object, Self.key, nil)
        g_object_remove_toggle_ref(gtkWidget.object, Self.holdersChanged, opaqueSelf)
    }

    /// The view of `widget`, if it has one.
    public static func of(_ widget: UnsafeMutablePointer<GtkWidget>) -> View? {
        guard let pointer = g_object_get_qdata(widget.object, key) else { return nil }
        return Unmanaged<View>.fromOpaque(pointer).takeUnretainedValue()
    }

    // MARK: Appearance

    /// Whether the view is not shown and takes no room.
    public var isHidden: Bool {
        get { gtk_widget_get_visible(gtkWidget) == 0 }
        set { gtk_widget_set_visible(gtkWidget, newValue ? 0 : 1) }
    }

    /// Whether the widget is mapped: its window and its containers show it.
    public var isMapped: Bool { gtk_widget_get_mapped(gtkWidget) != 0 }

    /// The size allocated by the container, in points; zero before the first layout.
    public var size: CGSize {
        CGSize(
            width: Int(gtk_widget_get_width(gtkWidget)),
            height: Int(gtk_widget_get_height(gtkWidget)))
    }

    /// The minimum size that the view requests, in points; `nil`, the default, leaves it to the
    /// content.
    public var requestedSize: CGSize? {
        get {
            var (width, height): (gint, gint) = (-1, -1)
            gtk_widget_get_size_request(gtkWidget, &width, &height)
            guard width >= 0, height >= 0 else { return nil }
            return CGSize(width: Int(width), height: Int(height))
        }
        set {
            gtk_widget_set_size_request(
                gtkWidget, newValue.map { gint(points: $0.width) } ?? -1,
                newValue.map { gint(points: $0.height) } ?? -1)
        }
    }

    /// Pixels of the screen per point.
    public var scaleFactor: CGFloat { CGFloat(gtk_widget_get_scale_factor(gtkWidget)) }

    /// The description of the content for assistive technologies; `nil` by default.
    public var accessibleDescription: String? {
        didSet {
            if let accessibleDescription {
                cgtk_set_accessible_description(gtkWidget, accessibleDescription)
            } else {
                gtk_accessible_reset_property(
                    OpaquePointer(gtkWidget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION)
            }
        }
    }

    /// The name of the view for assistive technologies; `nil`, the default, leaves it to the widget.
    public var accessibleName: String? {
        didSet {
            if let accessibleName {
                cgtk_set_accessible_name(gtkWidget, accessibleName)
            } else {
                gtk_accessible_reset_property(
                    OpaquePointer(gtkWidget), GTK_ACCESSIBLE_PROPERTY_LABEL)
            }
        }
    }

    /// Schedules a redraw with the next frame.
    public func setNeedsDisplay() {
        gtk_widget_queue_draw(gtkWidget)
    }

    /// Schedules measurement and layout with the next frame.
    public func setNeedsLayout() {
        gtk_widget_queue_resize(gtkWidget)
    }

    // MARK: The life of widget and object

    private static let key = g_quark_from_static_string("halcyon-view")

    private var opaqueSelf: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Called by GLib when this object's reference becomes the only one, and when it no longer is.
    private static let holdersChanged: GToggleNotify = { data, _, isLast in
        guard let data else { return }
        let view = Unmanaged<View>.fromOpaque(data)
        MainActor.assumeIsolated {
            view.takeUnretainedValue().holdersChanged(isLast: isLast != 0)
        }
    }

    private func holdersChanged(isLast: Bool) {
        guard isHeldByWidget == isLast else { return }
        isHeldByWidget = !isLast
        if isLast {
            Unmanaged.passUnretained(self).release()
        } else {
            _ = Unmanaged.passRetained(self)
        }
    }
}

extension UnsafeMutablePointer<GtkWidget> {
    var object: UnsafeMutablePointer<GObject> { cast() }

    /// The widget as an instance of its class, or of one above.
    package func cast<Instance>() -> UnsafeMutablePointer<Instance> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Instance.self)
    }
}

extension gint {
    /// `points` as a GTK length, rounded and not negative.
    init(points: CGFloat) {
        self = points.isNaN ? 0 : gint(Swift.min(Swift.max(0, points.rounded()), 1e6))
    }
}
