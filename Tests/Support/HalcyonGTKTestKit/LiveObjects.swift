import CGtk4
public import HalcyonGTK
import HalcyonWork

/// A counter of the watched widgets that are still alive.
@MainActor public final class LiveObjects {
    /// The number of watched widgets.
    public private(set) var watched = 0
    /// The number of watched widgets that are still alive.
    public var alive: Int { living.value }
    private let living = Observed(0)

    public init() {}

    /// Watches the widget of `view`.
    public func watch(_ view: View) {
        watched += 1
        living.update { $0 += 1 }
        g_object_weak_ref(
            UnsafeMutableRawPointer(view.gtkWidget).assumingMemoryBound(to: GObject.self),
            { data, _ in
                guard let data else { return }
                let counter = Unmanaged<LiveObjects>.fromOpaque(data)
                MainActor.assumeIsolated { counter.takeRetainedValue().living.update { $0 -= 1 } }
            }, Unmanaged.passRetained(self).toOpaque())
    }

    /// Waits until all watched widgets are destroyed; returns at once when cancelled.
    public func waitUntilGone() async { await living.wait { $0 == 0 } }
}
