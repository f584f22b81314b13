import CGtk4
public import HalcyonGTK
import HalcyonTesting

/// Counts which of the widgets it was shown are still there.
@MainActor public final class LiveObjects {
    /// How many it was shown.
    public private(set) var watched = 0
    /// How many of them are still there.
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

    /// Waits until none of them is there any more; returns at once when cancelled.
    public func waitUntilGone() async {
        await living.wait { $0 == 0 }
    }
}
