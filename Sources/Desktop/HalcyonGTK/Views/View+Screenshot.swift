import CGtk4
import Foundation
public import Halcyon

extension View {
    /// Returns the view's drawing in the next frame, in pixels of the screen; `nil` if it is not on
    /// the screen then.
    public func screenshot() async -> Bitmap? {
        guard isMapped, let clock = gtk_widget_get_frame_clock(gtkWidget) else { return nil }
        return await withCheckedContinuation { continuation in
            let answer = ScreenshotAnswer(continuation)
            setNeedsDisplay()
            FrameEnd.run(on: clock) { [weak self] in answer.give(self?.drawnPixels()) }
        }
    }

    /// Returns the view's drawing in the last frame; `nil` if the view is not on the screen.
    ///
    /// Valid only at the end of a frame: GTK drops the drawing of a view when a redraw is
    /// scheduled.
    package func drawnPixels() -> Bitmap? { renderer.flatMap { drawnPixels(by: $0) } }

    /// Returns the view's drawing in the last frame, rendered again by `renderer`.
    ///
    /// GTK 4.8 renders textures upside down and flips them, except for the rounded corners that its
    /// GL renderer clips: where the corners of a view differ, top and bottom ones are exchanged.
    package func drawnPixels(by renderer: OpaquePointer) -> Bitmap? {
        guard isMapped, let paintable = gtk_widget_paintable_new(gtkWidget) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        // With the border and padding that a theme may give to the widget.
        let size = CGSize(
            width: Int(gdk_paintable_get_intrinsic_width(paintable)),
            height: Int(gdk_paintable_get_intrinsic_height(paintable)))
        let pixels = PixelSize(points: size, scale: scaleFactor)
        let drawing = RenderNode.recording {
            gdk_paintable_snapshot(paintable, $0.pointer, Double(size.width), Double(size.height))
        }
        guard let drawing else {
            // The view draws nothing.
            return Bitmap(pixels: Data(count: pixels.pixelCount * 4), size: pixels)
        }
        let texture = drawing.texture(size, scaleFactor: scaleFactor, renderer: renderer)
        return texture.flatMap { Bitmap(downloading: $0.pointer, size: pixels) }
    }
}

/// Resumes the waiting caller once with the picture, or with `nil` if the frame never comes.
@MainActor private final class ScreenshotAnswer {
    private var waiting: CheckedContinuation<Bitmap?, Never>?

    init(_ waiting: CheckedContinuation<Bitmap?, Never>) {
        self.waiting = waiting
    }

    isolated deinit {
        waiting?.resume(returning: nil)
    }

    func give(_ bitmap: Bitmap?) {
        waiting?.resume(returning: bitmap)
        waiting = nil
    }
}

extension Bitmap {
    init?(downloading texture: OpaquePointer, size: PixelSize) {
        var bytes = Data(count: size.pixelCount * 4)
        bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            gdk_texture_download(
                texture, start.assumingMemoryBound(to: guchar.self), gsize(size.width * 4))
            let pixels = buffer.bindMemory(to: UInt32.self)
            for index in pixels.indices { pixels[index] = straight(pixels[index]) }
        }
        self.init(pixels: bytes, size: size)
    }
}

/// Cairo's pixel, a native integer of premultiplied alpha, red, green and blue from the highest byte,
/// as the bytes red, green, blue and straight alpha.
private func straight(_ pixel: UInt32) -> UInt32 {
    let alpha = pixel >> 24
    func component(_ shift: UInt32) -> UInt32 {
        guard alpha > 0 else { return 0 }
        return min(255, ((pixel >> shift & 0xFF) * 255 + alpha / 2) / alpha)
    }
    return (component(16) | component(8) << 8 | component(0) << 16 | alpha << 24).littleEndian
}
