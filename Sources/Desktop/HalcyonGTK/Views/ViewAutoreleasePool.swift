import CGtk4

/// Keeps the views whose widgets somebody has asked for until the main loop's next turn.
///
/// Swift may release an object as soon as it was used last, which is when its widget's pointer was read:
/// before the function that the pointer was read for has been called. So the view is kept until the
/// loop's next turn, when that function has returned.
@MainActor enum ViewAutoreleasePool {
    private static var views: [View] = []

    /// How many views are kept.
    static var count: Int { views.count }

    /// Keeps `view` until the next turn.
    static func keep(_ view: View) {
        guard !view.isAutoreleased else { return }
        // An object that is being destroyed, in whose `deinit` this is asked for, has no weak references
        // and cannot be kept; its widget is there until the `deinit` ends.
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
        // What goes with these views may ask for others, which are kept for another turn.
        let released = views
        views = []
        for view in released { view.isAutoreleased = false }
    }
}
