import CGtk4
public import Foundation
public import Halcyon

/// The drawing target of a view: GTK's list of drawing operations, which the renderer executes
/// later.
///
/// Valid during the call that it is passed to. Lengths are in points, angles in degrees.
@MainActor public struct Snapshot {
    /// The `GtkSnapshot`, for operations without a member here.
    public let pointer: OpaquePointer

    /// A snapshot that GTK has made.
    public init(pointer: OpaquePointer) {
        self.pointer = pointer
    }

    // MARK: Content

    /// Draws the whole of `texture` into `rect`.
    public func draw(_ texture: Texture, in rect: CGRect) {
        var bounds = graphene_rect_t(rect)
        gtk_snapshot_append_texture(pointer, texture.pointer, &bounds)
    }

    /// Fills `rect`.
    public func fill(_ rect: CGRect, with color: Color) {
        var bounds = graphene_rect_t(rect)
        var color = GdkRGBA(color)
        gtk_snapshot_append_color(pointer, &color, &bounds)
    }

    // MARK: What holds for a part of the drawing

    /// Clips the drawing of `body` to `rect`.
    public func clipped(to rect: CGRect, _ body: () -> Void) {
        var bounds = graphene_rect_t(rect)
        gtk_snapshot_push_clip(pointer, &bounds)
        body()
        gtk_snapshot_pop(pointer)
    }

    /// Clips the drawing of `body` to `rect` with rounded `corners`.
    public func clipped(
        to rect: CGRect, radius: CGFloat, corners: RectCorner = .all, _ body: () -> Void
    ) {
        var outline = GskRoundedRect(rect, radius: radius, corners: corners)
        gtk_snapshot_push_rounded_clip(pointer, &outline)
        body()
        gtk_snapshot_pop(pointer)
    }

    /// Draws `body` as one group with `opacity`, from 0 (invisible) to 1.
    public func faded(opacity: CGFloat, _ body: () -> Void) {
        gtk_snapshot_push_opacity(pointer, Double(opacity))
        body()
        gtk_snapshot_pop(pointer)
    }

    /// Draws a mix of `start` and `end`: `progress` 0 is all `start`, 1 all `end`.
    public func crossFade(progress: CGFloat, from start: () -> Void, to end: () -> Void) {
        gtk_snapshot_push_cross_fade(pointer, Double(progress))
        start()
        gtk_snapshot_pop(pointer)
        end()
        gtk_snapshot_pop(pointer)
    }

    // MARK: Coordinates

    /// Restores the coordinate system after `body`.
    public func transformed(_ body: () -> Void) {
        gtk_snapshot_save(pointer)
        body()
        gtk_snapshot_restore(pointer)
    }

    /// Moves the origin.
    public func translate(x: CGFloat, y: CGFloat) {
        var point = graphene_point_t(x: Float(x), y: Float(y))
        gtk_snapshot_translate(pointer, &point)
    }

    /// Scales the coordinates by these factors.
    public func scale(x: CGFloat, y: CGFloat) {
        gtk_snapshot_scale(pointer, Float(x), Float(y))
    }

    /// Rotates the coordinates around the axis `(x, y, z)` through the origin.
    public func rotate(degrees: CGFloat, x: CGFloat, y: CGFloat, z: CGFloat) {
        var axis = graphene_vec3_t()
        graphene_vec3_init(&axis, Float(x), Float(y), Float(z))
        gtk_snapshot_rotate_3d(pointer, Float(degrees), &axis)
    }

    /// Applies a perspective projection with the eye at distance `depth`.
    public func perspective(depth: CGFloat) {
        gtk_snapshot_perspective(pointer, Float(depth))
    }
}

extension graphene_rect_t {
    init(_ rect: CGRect) {
        self.init(
            origin: graphene_point_t(x: Float(rect.minX), y: Float(rect.minY)),
            size: graphene_size_t(width: Float(rect.width), height: Float(rect.height)))
    }
}

extension GskRoundedRect {
    init(_ rect: CGRect, radius: CGFloat, corners: RectCorner) {
        let length = Float(max(0, min(radius, rect.width / 2, rect.height / 2)))
        func size(_ corner: RectCorner) -> graphene_size_t {
            corners.contains(corner)
                ? graphene_size_t(width: length, height: length) : graphene_size_t()
        }
        self.init(
            bounds: graphene_rect_t(rect),
            corner: (size(.topLeft), size(.topRight), size(.bottomRight), size(.bottomLeft)))
    }
}

extension GdkRGBA {
    init(_ color: Color) {
        self.init(
            red: Float(color.red), green: Float(color.green), blue: Float(color.blue),
            alpha: Float(color.alpha))
    }
}
