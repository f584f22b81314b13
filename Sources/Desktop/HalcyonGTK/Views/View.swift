public import CGtk4
public import Foundation
public import Halcyon

/// A GTK widget with a Swift object around it: any widget becomes something that can be a placeholder,
/// an indicator or a failure view.
///
/// The object and its widget live together: the object keeps the widget, and a widget that somebody
/// else holds (such as the container it was put into) keeps the object. Both go when neither the
/// program nor GTK holds them any longer. Views belong to the main thread, and are made when GTK
/// has been initialised: by `Application.run`, `gtk_init` or `Application.hasDisplay`.
@MainActor open class View: KFCrossPlatformView {
    /// The widget, to be put into any GTK container.
    ///
    /// The view, and with it the widget, is kept until the main loop's next turn, so that there is time
    /// to do that even when nobody else keeps the view:
    ///
    /// ```swift
    /// gtk_box_append(box, Label("Cat").widget)
    /// ```
    public var widget: UnsafeMutablePointer<GtkWidget> {
        ViewAutoreleasePool.keep(self)
        return gtkWidget
    }

    /// The widget, for those who keep the view themselves as long as they use it.
    package let gtkWidget: UnsafeMutablePointer<GtkWidget>

    /// Whether the view is kept because somebody has asked for its widget.
    var isAutoreleased = false

    private let isMainView: Bool
    /// Whether somebody else holds the widget, which then keeps this object.
    private var isHeldByWidget = false

    /// A view of `widget`, of which it takes the floating reference or one of its own.
    ///
    /// The first view of a widget is its view (`View.of`); the widget does not keep further ones.
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

    /// Whether the view is on the screen, as far as its window and containers go.
    public var isMapped: Bool { gtk_widget_get_mapped(gtkWidget) != 0 }

    /// The size its container gave to the view, in points; zero before the first layout.
    public var size: CGSize {
        CGSize(
            width: Int(gtk_widget_get_width(gtkWidget)),
            height: Int(gtk_widget_get_height(gtkWidget)))
    }

    /// The least size the view asks its container for, in points; `nil`, the default, leaves it to what
    /// the view shows.
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

    /// What the view shows, in words, for those who do not see it; `nil` by default.
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

    /// Has the view drawn anew with the next frame.
    public func setNeedsDisplay() {
        gtk_widget_queue_draw(gtkWidget)
    }

    /// Has the view measured and laid out anew with the next frame.
    public func setNeedsLayout() {
        gtk_widget_queue_resize(gtkWidget)
    }

    // MARK: The life of widget and object

    private static let key = g_quark_from_static_string("halcyon-view")

    private var opaqueSelf: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// GLib tells when this object's reference becomes the only one, and when it no longer is.
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
    /// The widget as the object it is.
    var object: UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: GObject.self)
    }
}

extension gint {
    /// `points` as a length in GTK's terms: whole, not negative.
    init(points: CGFloat) {
        self = points.isNaN ? 0 : gint(Swift.min(Swift.max(0, points.rounded()), 1e6))
    }
}
