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

/// The textures in use, keyed by their pixels.
///
/// An entry does not retain its texture. A texture retains its pixels, so that their address is not
/// reused before the entry is removed.
@MainActor final class Textures {
    static let shared = Textures()

    private var entries: [Bitmap.Identity: OpaquePointer] = [:]

    var count: Int { entries.count }

    func has(_ identity: Bitmap.Identity) -> Bool { entries[identity] != nil }

    /// Returns a new reference to the texture of `bitmap`, which is made if there is none.
    func texture(of bitmap: Bitmap) -> OpaquePointer {
        if let texture = entries[bitmap.identity] {
            g_object_ref(UnsafeMutableRawPointer(texture))
            return texture
        }
        let texture = make(bitmap)
        entries[bitmap.identity] = texture
        g_object_weak_ref(
            UnsafeMutableRawPointer(texture).assumingMemoryBound(to: GObject.self),
            { data, _ in
                guard let data else { return }
                let identity = Retained<Bitmap.Identity>.value(data)
                releaseRetained(data)
                // Textures are released on the main thread: by views and by GTK's drawing.
                MainActor.assumeIsolated { Textures.shared.entries[identity] = nil }
            }, Retained.pointer(bitmap.identity))
        return texture
    }

    private func make(_ bitmap: Bitmap) -> OpaquePointer {
        // The bitmap is kept as long as GTK uses its pixels.
        let bytes = g_bytes_new_with_free_func(
            bitmap.address, gsize(bitmap.byteCount), releaseRetained, Retained.pointer(bitmap))
        defer { g_bytes_unref(bytes) }
        return gdk_memory_texture_new(
            gint(bitmap.size.width), gint(bitmap.size.height), bitmap.memoryFormat, bytes,
            gsize(bitmap.bytesPerRow))
    }
}

extension Bitmap {
    fileprivate var memoryFormat: GdkMemoryFormat {
        switch (depth, hasAlpha) {
        case (.eight, false): GDK_MEMORY_R8G8B8
        case (.eight, true): GDK_MEMORY_R8G8B8A8
        case (.sixteen, false): GDK_MEMORY_R16G16B16
        case (.sixteen, true): GDK_MEMORY_R16G16B16A16
        }
    }
}
