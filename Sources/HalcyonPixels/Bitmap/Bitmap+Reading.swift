import DirectCodecs

extension Bitmap {
    /// A bitmap of 8 bits whose pixels `read` writes, all `width × height × channels` of them.
    init<Failure: Error>(
        size: PixelSize, channels: Int,
        read: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let memory = PixelMemory.forPixels(count: size.pixelCount * channels)
        try read(memory.bytes)
        self.init(size: size, channels: channels, depth: .eight, storage: memory)
    }

    /// A bitmap whose pixels are stored otherwise than they are shown.
    ///
    /// - Parameters:
    ///   - size: As shown.
    ///   - orientation: Of EXIF, 1…8.
    ///   - read: Writes the pixels as stored, in the size it is called with.
    init<Failure: Error>(
        size: PixelSize, channels: Int, orientation: Int,
        read: (PixelSize, UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let stored = size.turned(by: orientation)
        let memory = PixelMemory.forPixels(count: size.pixelCount * channels)
        try read(stored, memory.bytes)
        guard orientation > 1 else {
            self.init(size: size, channels: channels, depth: .eight, storage: memory)
            return
        }
        let shown = PixelMemory.forPixels(count: memory.count)
        PixelTurning.turn(
            memory.bytes, width: stored.width, height: stored.height, channels: channels,
            orientation: orientation, into: shown.bytes)
        self.init(size: size, channels: channels, depth: .eight, storage: shown)
    }
}
