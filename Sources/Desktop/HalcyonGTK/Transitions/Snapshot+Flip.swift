import CGtk4
import Foundation

extension Snapshot {
    /// Draws `content`, an area from the origin to `size`, turned by `degrees` so that `edge` comes to
    /// the front.
    ///
    /// Where the renderer can, in three dimensions; GTK's renderer for the processor cannot, and is
    /// given strips, each as high as it is seen.
    func drawTurned(
        _ content: RenderNode, degrees: CGFloat, edge: FlipEdge, size: CGSize,
        scaleFactor: CGFloat, renderer: OpaquePointer?
    ) {
        let direction: CGFloat = edge == .left || edge == .top ? 1 : -1
        let isVertical = edge == .left || edge == .right
        let projection = FlipProjection(
            length: isVertical ? size.width : size.height, degrees: degrees * direction)
        guard !projection.isOnEdge else { return }
        if let renderer, !isProcessor(renderer),
            let texture = content.texture(size, scaleFactor: scaleFactor, renderer: renderer)
        {
            draw(texture, projection, aroundVerticalAxis: isVertical, size: size)
        } else {
            transformed {
                translate(x: size.width / 2, y: size.height / 2)
                drawStrips(
                    content, projection, aroundVerticalAxis: isVertical, size: size,
                    scaleFactor: max(1, scaleFactor))
            }
        }
    }

    private func isProcessor(_ renderer: OpaquePointer) -> Bool {
        let type = cgtk_type_name(UnsafeMutableRawPointer(renderer))
        return type.map { String(cString: $0) } == "GskCairoRenderer"
    }

    private func draw(
        _ texture: Texture, _ projection: FlipProjection, aroundVerticalAxis isVertical: Bool,
        size: CGSize
    ) {
        transformed {
            translate(x: size.width / 2, y: size.height / 2)
            perspective(depth: projection.depth)
            var back = graphene_point3d_t(x: 0, y: 0, z: Float(-projection.recession))
            gtk_snapshot_translate_3d(pointer, &back)
            // A positive turn around the vertical axis brings the left edge to the front; one around
            // the horizontal axis the bottom edge.
            if isVertical {
                rotate(degrees: projection.degrees, x: 0, y: 1, z: 0)
            } else {
                rotate(degrees: -projection.degrees, x: 1, y: 0, z: 0)
            }
            draw(
                texture,
                in: CGRect(
                    x: -size.width / 2, y: -size.height / 2, width: size.width,
                    height: size.height))
        }
    }

    /// Around the origin. The content is drawn once, and the strips are cut from that.
    private func drawStrips(
        _ content: RenderNode, _ projection: FlipProjection, aroundVerticalAxis isVertical: Bool,
        size: CGSize, scaleFactor: CGFloat
    ) {
        let half = projection.length / 2
        let other = isVertical ? size.height : size.width
        var bounds = graphene_rect_t(
            CGRect(x: -size.width / 2, y: -size.height / 2, width: size.width, height: size.height))
        guard let picture = content.surface(size, scaleFactor: scaleFactor) else { return }
        defer { cairo_surface_destroy(picture) }
        guard let cairo = gtk_snapshot_append_cairo(pointer, &bounds) else { return }
        defer { cairo_destroy(cairo) }
        // Strips end between pixels of the screen. There are no more than are worth it on a large view.
        let pixel = 1 / scaleFactor
        let step = pixel * max(1, (projection.length / pixel / 256).rounded(.up))
        func between(_ x: CGFloat) -> CGFloat {
            ((x + half) / pixel).rounded() * pixel - half
        }
        var start = between(projection.projected(-half).position)
        let end = between(projection.projected(half).position)
        while start < end {
            let stop = min(start + step, end)
            let from = projection.unprojected(start)
            let to = projection.unprojected(stop)
            let across = projection.projected((from + to) / 2).scale
            let along = (stop - start) / (to - from)
            let offset = start - from * along
            let area = strip(from: start, to: stop, other: other, isVertical)
            cairo_save(cairo)
            cairo_rectangle(cairo, area.minX, area.minY, area.width, area.height)
            cairo_clip(cairo)
            cairo_translate(cairo, isVertical ? offset : 0, isVertical ? 0 : offset)
            cairo_scale(cairo, isVertical ? along : across, isVertical ? across : along)
            cairo_translate(cairo, -size.width / 2, -size.height / 2)
            cairo_set_source_surface(cairo, picture, 0, 0)
            // What lies outside is not mixed into the edges.
            cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD)
            cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_BILINEAR)
            cairo_rectangle(cairo, 0, 0, size.width, size.height)
            cairo_fill(cairo)
            cairo_restore(cairo)
            start = stop
        }
    }

    private func strip(
        from start: CGFloat, to stop: CGFloat, other: CGFloat, _ isVertical: Bool
    ) -> CGRect {
        isVertical
            ? CGRect(x: start, y: -other / 2, width: stop - start, height: other)
            : CGRect(x: -other / 2, y: start, width: other, height: stop - start)
    }
}

/// The perspective projection of a plane that turns around the axis through its middle.
///
/// The plane recedes as it turns, so that its nearest edge stays on the screen and the plane within
/// its bounds. Lengths are measured from the axis, across it.
struct FlipProjection: Hashable {
    let length: CGFloat
    /// Between -90 and 90: positive when the edge at the start comes to the front.
    let degrees: CGFloat

    private var radians: CGFloat { degrees * .pi / 180 }

    var depth: CGFloat { 2 * max(1, length) }

    /// The distance of the axis behind the screen.
    var recession: CGFloat { length / 2 * abs(sin(radians)) }

    /// Whether the plane stands on edge, and so is invisible.
    var isOnEdge: Bool { cos(radians) * length < 0.5 }

    /// The point of the screen where the point at `position` of the plane is, and the scale there.
    func projected(_ position: CGFloat) -> (position: CGFloat, scale: CGFloat) {
        let scale = depth / (depth + recession + position * sin(radians))
        return (position * cos(radians) * scale, scale)
    }

    /// The point of the plane that is projected to `position`, also beyond its edges.
    func unprojected(_ position: CGFloat) -> CGFloat {
        position * (depth + recession) / (depth * cos(radians) - position * sin(radians))
    }
}
