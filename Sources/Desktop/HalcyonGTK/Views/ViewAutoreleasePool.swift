import CGtk4

/// Retains views whose `widget` was read until the main loop's next iteration.
///
/// Swift may release an object after its last use, which is the read of its widget's pointer:
/// before the call that the pointer is passed to. So the view is retained until the loop's next
/// iteration, when that call has returned.
@MainActor enum ViewAutoreleasePool {
    private static var views: [View] = []

    static var count: Int { views.count }

    static func keep(_ view: View) {
        guard !view.isAutoreleased else { return }
        // An object in its `deinit` has no weak references and cannot be retained; its widget is
        // alive until the `deinit` ends.
        weak let living = view
        guard let living else { return }
        living.isAutoreleased = true
        if views.isEmpty {
            g_idle_add_full(
                G_PRIORITY_DEFAULT,
                { _ in
                    MainActor.assumeIsolated { ViewAutoreleasePool.release() }
                    return gboolean(0)
                }, nil, nil)
        }
        views.append(living)
    }

    private static func release() {
        // Releasing these views may read the widgets of others, which wait for the next iteration.
        let released = views
        views = []
        for view in released { view.isAutoreleased = false }
    }
}
