import CGtk4
import Halcyon

/// The textures in use, keyed by their pixels.
///
/// An entry does not retain its texture. A texture retains its pixels, so that their address is not
/// reused before the entry is removed.
@MainActor final class Textures {
    static let shared = Textures()

    private var entries: [Bitmap.Identity: OpaquePointer] = [:]

    /// The number of textures in use.
    var count: Int { entries.count }

    /// Whether there is a texture of these pixels.
    func has(_ identity: Bitmap.Identity) -> Bool { entries[identity] != nil }

    /// Returns a new reference to the texture of `bitmap`, which is made if there is none.
    func texture(of bitmap: Bitmap) -> OpaquePointer {
        if let texture = entries[bitmap.identity] {
            g_object_ref(UnsafeMutableRawPointer(texture))
            return texture
        }
        let texture = make(bitmap)
        entries[bitmap.identity] = texture
        let entry = Unmanaged.passRetained(Entry(identity: bitmap.identity))
        g_object_weak_ref(
            UnsafeMutableRawPointer(texture).assumingMemoryBound(to: GObject.self),
            { data, _ in
                guard let data else { return }
                let identity = Unmanaged<Entry>.fromOpaque(data).takeRetainedValue().identity
                // Textures are released on the main thread: by views and by GTK's drawing.
                MainActor.assumeIsolated { Textures.shared.entries[identity] = nil }
            }, entry.toOpaque())
        return texture
    }

    private final class Entry {
        let identity: Bitmap.Identity

        init(identity: Bitmap.Identity) {
            self.identity = identity
        }
    }

    private func make(_ bitmap: Bitmap) -> OpaquePointer {
        let owner = Unmanaged.passRetained(PixelOwner(bitmap))
        let bytes = g_bytes_new_with_free_func(
            bitmap.address, gsize(bitmap.byteCount),
            { owner in
                if let owner { Unmanaged<PixelOwner>.fromOpaque(owner).release() }
            }, owner.toOpaque())
        defer { g_bytes_unref(bytes) }
        return gdk_memory_texture_new(
            gint(bitmap.size.width), gint(bitmap.size.height), bitmap.memoryFormat, bytes,
            gsize(bitmap.bytesPerRow))
    }
}

/// A reference to a bitmap for as long as GTK uses its pixels.
private final class PixelOwner {
    let bitmap: Bitmap

    init(_ bitmap: Bitmap) {
        self.bitmap = bitmap
    }
}

extension Bitmap {
    /// GDK's constant for the pixel layout.
    fileprivate var memoryFormat: GdkMemoryFormat {
        switch (depth, hasAlpha) {
        case (.eight, false): GDK_MEMORY_R8G8B8
        case (.eight, true): GDK_MEMORY_R8G8B8A8
        case (.sixteen, false): GDK_MEMORY_R16G16B16
        case (.sixteen, true): GDK_MEMORY_R16G16B16A16
        }
    }
}
