import CGtk4

/// A clock of the frames of a view: the frame clock of its window, or a manual clock in tests.
@MainActor public protocol FrameTicker {
    /// Calls `body` before each frame with its time, which has an arbitrary origin, as long as the
    /// subscription is retained and not cancelled.
    func onEachFrame(_ body: @escaping @MainActor (_ time: Duration) -> Void) -> FrameSubscription
}

/// A subscription to frames, which ends with `cancel()` or when the last reference to it goes.
@MainActor public final class FrameSubscription {
    private var end: (@MainActor () -> Void)?

    /// - Parameter end: Stops the calls; called once.
    public init(end: @escaping @MainActor () -> Void) {
        self.end = end
    }

    isolated deinit {
        end?()
    }

    /// Ends the calls. Further calls do nothing.
    public func cancel() {
        let end = end
        self.end = nil
        end?()
    }
}

/// The frame clock of a view's window. It does not tick while the view is in no window.
@MainActor public struct WidgetFrameTicker: FrameTicker {
    private weak let view: View?

    public init(_ view: View) {
        self.view = view
    }

    public func onEachFrame(
        _ body: @escaping @MainActor (_ time: Duration) -> Void
    ) -> FrameSubscription {
        guard let view else { return FrameSubscription {} }
        let id = gtk_widget_add_tick_callback(
            view.gtkWidget,
            { _, clock, data in
                guard let data else { return gboolean(0) }
                let time = gdk_frame_clock_get_frame_time(clock)
                let body = Retained<TickHandler>.value(data)
                MainActor.assumeIsolated { body(.microseconds(time)) }
                return gboolean(1)
            }, Retained<TickHandler>.pointer(body), releaseRetained)
        return FrameSubscription { [weak view] in
            // A destroyed widget has removed its callbacks itself.
            if let view { gtk_widget_remove_tick_callback(view.gtkWidget, id) }
        }
    }
}

/// A closure that GTK keeps as long as the tick callback.
private typealias TickHandler = @MainActor (Duration) -> Void

/// A call made once after the next frame, when everything in it is laid out.
///
/// It is never made if the window is closed before that. The frame clock retains the object while
/// the call is pending.
@MainActor final class FrameEnd {
    private var handler: gulong = 0
    private let body: @MainActor () -> Void

    private init(_ body: @escaping @MainActor () -> Void) {
        self.body = body
    }

    /// - Returns: The object, to be held weakly.
    @discardableResult
    static func run(on clock: OpaquePointer, _ body: @escaping @MainActor () -> Void) -> FrameEnd {
        let end = FrameEnd(body)
        let object = UnsafeMutableRawPointer(clock)
        end.handler = Signal.connect(object, "after-paint") {
            // Also releases the clock's reference to this object.
            Signal.disconnect(object, end.handler)
            end.body()
        }
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
        return end
    }
}
