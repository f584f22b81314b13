import CGtk4
import Foundation
import HalcyonGTK

/// Gives the main thread of a test program to GTK.
///
/// An asynchronous `main` hands its thread over by `dispatch_main`, which ends it and serves the main
/// actor on other threads. GTK needs the main thread, so this function of the same name takes the
/// other's place in every program that this module is linked into: the main actor is served by GLib's
/// main loop, as in a program with windows. Where there is no display, or the tests of views are not
/// asked for, the original is called.
@_cdecl("dispatch_main")
public func serveMainThread() {
    guard TestDisplay.open() else {
        guard let address = dlsym(UnsafeMutableRawPointer(bitPattern: -1), "dispatch_main") else {
            preconditionFailure("there is no libdispatch")
        }
        // RTLD_NEXT is -1: the next definition after this program's own.
        return unsafeBitCast(address, to: (@convention(c) () -> Void).self)()
    }
    MainActor.assumeIsolated { MainLoop.attach() }
    g_main_loop_run(g_main_loop_new(nil, 0))
}

/// The display on which tests show windows.
public enum TestDisplay {
    nonisolated(unsafe) private static var isOpen = false

    /// Whether there is one. If not, nothing of GTK may be called.
    public static var isAvailable: Bool { isOpen }

    /// Opens the display in a way that does not depend on the desktop: fonts and colours by default, no
    /// settings read or written, drawing by the processor unless `GSK_RENDERER` says otherwise.
    fileprivate static func open() -> Bool {
        // Only the tests of views need it: `./test` asks for them.
        guard getenv("HALCYON_TEST_VIEWS") != nil else { return false }
        setenv("GSETTINGS_BACKEND", "memory", 1)
        setenv("GTK_A11Y", "test", 1)
        setenv("GTK_THEME", "Adwaita", 1)
        setenv("GSK_RENDERER", "cairo", 0)
        gtk_disable_setlocale()
        // Written once, before any test runs.
        isOpen = gtk_init_check() != 0
        return isOpen
    }
}
