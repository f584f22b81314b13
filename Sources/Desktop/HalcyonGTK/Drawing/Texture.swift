import CGtk4
public import Halcyon

/// Pixels as GTK takes them to the graphics processor: once, however many views show them.
@MainActor public final class Texture {
    /// The `GdkTexture`.
    public let pointer: OpaquePointer

    /// The texture of `bitmap`, without a copy of its pixels.
    ///
    /// Bitmaps that share their pixels have one texture as long as anybody uses it.
    public convenience init(_ bitmap: Bitmap) {
        self.init(adopting: Textures.shared.texture(of: bitmap))
    }

    /// Takes over a reference.
    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// Width and height in pixels.
    public var size: PixelSize {
        PixelSize(
            width: Int(gdk_texture_get_width(pointer)),
            height: Int(gdk_texture_get_height(pointer)))
    }
}

extension Texture: @MainActor Equatable {
    /// Whether both are the same `GdkTexture`.
    public static func == (left: Texture, right: Texture) -> Bool { left.pointer == right.pointer }
}
