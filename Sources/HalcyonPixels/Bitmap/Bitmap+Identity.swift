extension Bitmap {
    /// Where the pixels are: equal for bitmaps that share them, as long as one of them exists.
    package struct Identity: Hashable, Sendable {
        let storage: ObjectIdentifier
        let offset: Int
    }

    package var identity: Identity {
        Identity(storage: ObjectIdentifier(storage), offset: offset)
    }

    /// The first pixel; valid as long as this bitmap, or another one that shares its pixels, exists.
    package var address: UnsafeRawPointer {
        UnsafeRawPointer(storage.pointer).advanced(by: offset)
    }
}
