import CGtk4
import Foundation

/// A program with windows, for those who use no other wrapper of GTK.
///
/// ```swift
/// enum Viewer {
///     @MainActor static func main() {
///         let application = Application(identifier: "org.example.Viewer") { application in
///             let view = ImageView()
///             view.kf.setImage(with: URL(string: "https://example.org/cat.jpg"))
///             application.show(Window(title: "Cat"), content: view)
///         }
///         exit(application.run())
///     }
/// }
/// ```
@MainActor public final class Application {
    private let pointer: UnsafeMutablePointer<GtkApplication>

    /// A program that is not running yet.
    ///
    /// - Parameters:
    ///   - identifier: A reversed domain name, such as `org.example.Viewer`; `nil` for none.
    ///   - activate: Called once the program runs; it shows a window, or the program ends.
    public init(
        identifier: String? = nil, activate: @escaping @MainActor (Application) -> Void
    ) {
        MainLoop.attach()
        // Each start is a program of its own: none hands its arguments to another one.
        pointer = gtk_application_new(identifier, G_APPLICATION_NON_UNIQUE)
        Signal.connect(pointer, "activate") { [unowned self] in activate(self) }
    }

    isolated deinit {
        g_object_unref(pointer)
    }

    /// Whether there is a display to show windows on. Without one, no view can be made.
    public static var hasDisplay: Bool { gtk_init_check() != 0 }

    /// Serves the program's windows until the last one is closed, or `quit()` is called.
    ///
    /// - Returns: The exit code: 0, or another number if GTK could not start.
    public func run() -> Int32 {
        g_application_run(base, 0, nil)
    }

    /// Shows a window, which keeps the program running until it is closed.
    @discardableResult
    public func show(_ window: Window, content: View? = nil) -> Window {
        if let content { window.content = content }
        gtk_application_add_window(pointer, window.pointer)
        window.present()
        return window
    }

    /// Ends `run()` after the current event.
    public func quit() {
        g_application_quit(base)
    }

    private var base: UnsafeMutablePointer<GApplication> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GApplication.self)
    }
}
