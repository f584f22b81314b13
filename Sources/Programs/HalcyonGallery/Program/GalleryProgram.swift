import CGtk4
import Foundation
import Halcyon
import HalcyonGTK
import HalcyonWork

@MainActor final class GalleryProgram {
    private let request: GalleryRequest
    private let loop = g_main_loop_new(nil, 0)
    private var exitCode: Int32 = 0
    private var window: GalleryWindow?
    private var gallery: Gallery?

    /// The name of the desktop file, by which desktops know the program's windows.
    static let identifier = "io.github.halcyon.Gallery"

    /// Something this needs is not here (EX_UNAVAILABLE of sysexits.h).
    private static let unavailable: Int32 = 69

    init(_ request: GalleryRequest) {
        self.request = request
    }

    /// Shows the window until it is closed, or until its picture is taken.
    ///
    /// - Returns: The exit code.
    func run() -> Int32 {
        g_set_prgname(Self.identifier)
        guard gtk_init_check() != 0 else {
            Self.say(
                """
                there is no display to show a window on.
                Where there is none, Xvfb makes one (Debian's packages xvfb and xauth):
                    xvfb-run -a ./run gallery --page grid --screenshot grid.png
                """)
            return Self.unavailable
        }
        gtk_window_set_default_icon_name("halcyon-gallery")
        MainLoop.attach()
        MainLoopMeter.start()
        let signals = ProcessSignals.listen(to: [SIGINT, SIGTERM, SIGHUP]) { [self] _ in
            Task { @MainActor in end(130) }
        }
        defer { signals.cancel() }
        let work = Task { await show() }
        g_main_loop_run(loop)
        work.cancel()
        window?.close()
        window = nil
        // GTK may still hold views that hold the gallery.
        gallery?.removeFiles()
        return exitCode
    }

    private func show() async {
        do {
            for problem in request.problems { Self.say(problem) }
            let gallery = try await Gallery(request.sources)
            self.gallery = gallery
            Self.tell(of: gallery.failures)
            let window = GalleryWindow(
                gallery, page: request.page ?? (gallery.isOwn ? .pictures : .grid)
            ) { [weak self] in self?.end(0) }
            self.window = window
            window.present()
            if request.page == nil, request.sources.count == 1, case .file = request.sources[0],
                let only = gallery.pictures.first
            {
                gallery.open(only)
                await window.viewer.loaded()
                window.viewer.view.whenSized { view in
                    guard let zoom = self.request.zoom, let view = view as? ZoomableImageView
                    else { return }
                    // Labels may not be changed while the window is being laid out.
                    Task { view.zoom = zoom }
                }
            }
            try await window.appeared()
            guard let screenshot = request.screenshot else { return }
            try await Task.sleep(for: screenshot.delay)
            try await window.save(to: screenshot.file)
            end(0)
        } catch is CancellationError {
            // The window was closed meanwhile.
        } catch {
            Self.say("\(error)")
            end(1)
        }
    }

    private func end(_ code: Int32) {
        exitCode = code
        g_main_loop_quit(loop)
    }

    /// Names what cannot be read, and counts it.
    private static func tell(of failures: [FilePath.Failure]) {
        for failure in failures { say(failure.description) }
        if failures.count > 1 { say("\(failures.count) files and folders cannot be read") }
    }

    static func say(_ text: String) {
        FileHandle.standardError.write(Data("halcyon-gallery: \(text)\n".utf8))
    }
}
