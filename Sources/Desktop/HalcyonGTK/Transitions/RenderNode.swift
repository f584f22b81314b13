import CGtk4
import Foundation

/// A recorded drawing that can be drawn again.
@MainActor final class RenderNode {
    private let pointer: OpaquePointer
    /// The nesting depth of transitions in this drawing.
    let depth: Int

    private init(adopting pointer: OpaquePointer, depth: Int) {
        self.pointer = pointer
        self.depth = depth
    }

    isolated deinit {
        gsk_render_node_unref(pointer)
    }

    /// Records the drawing of `body`; `nil` if it is empty.
    static func recording(depth: Int = 0, _ body: (Snapshot) -> Void) -> RenderNode? {
        guard let snapshot = gtk_snapshot_new() else { return nil }
        body(Snapshot(pointer: snapshot))
        return gtk_snapshot_free_to_node(snapshot).map {
            RenderNode(adopting: $0, depth: depth)
        }
    }

    func draw(in snapshot: Snapshot) {
        gtk_snapshot_append_node(snapshot.pointer, pointer)
    }

    /// Draws the part from the origin to `size` on the CPU, in pixels of the screen. Returns a
    /// cairo surface that the caller destroys; `nil` if nothing can be drawn.
    func surface(_ size: CGSize, scaleFactor: CGFloat) -> OpaquePointer? {
        let width = gint(points: (size.width * scaleFactor).rounded(.up))
        let height = gint(points: (size.height * scaleFactor).rounded(.up))
        guard width > 0, height > 0,
            let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)
        else { return nil }
        cairo_surface_set_device_scale(surface, Double(scaleFactor), Double(scaleFactor))
        let cairo = cairo_create(surface)
        gsk_render_node_draw(pointer, cairo)
        cairo_destroy(cairo)
        return surface
    }

    /// Draws the part from the origin to `size`, in pixels of the screen; `nil` if there is none.
    func texture(_ size: CGSize, scaleFactor: CGFloat, renderer: OpaquePointer) -> Texture? {
        let scaled = Self.recording { snapshot in
            snapshot.scale(x: scaleFactor, y: scaleFactor)
            draw(in: snapshot)
        }
        guard let scaled else { return nil }
        var viewport = graphene_rect_t(
            CGRect(
                x: 0, y: 0, width: (size.width * scaleFactor).rounded(.up),
                height: (size.height * scaleFactor).rounded(.up)))
        guard viewport.size.width > 0, viewport.size.height > 0 else { return nil }
        return gsk_renderer_render_texture(renderer, scaled.pointer, &viewport).map {
            Texture(adopting: $0)
        }
    }
}
