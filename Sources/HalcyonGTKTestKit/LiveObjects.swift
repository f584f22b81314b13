import CGtk4
public import HalcyonGTK

/// Counts which of the widgets it was shown are still there.
@MainActor public final class LiveObjects {
    /// How many it was shown.
    public private(set) var watched = 0
    /// How many of them are still there.
    public private(set) var alive = 0

    public init() {}

    /// Watches the widget of `view`.
    public func watch(_ view: View) {
        watched += 1
        alive += 1
        g_object_weak_ref(
            UnsafeMutableRawPointer(view.gtkWidget).assumingMemoryBound(to: GObject.self),
            { data, _ in
                guard let data else { return }
                let counter = Unmanaged<LiveObjects>.fromOpaque(data)
                MainActor.assumeIsolated { counter.takeRetainedValue().alive -= 1 }
            }, Unmanaged.passRetained(self).toOpaque())
    }
}
