extension Bitmap {
    /// A bitmap of 8 bits whose pixels `fill` writes, all `width × height × channels` of them.
    init<Failure: Error>(
        size: PixelSize, channels: Int,
        fill: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let count = size.pixelCount * channels
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
        do {
            try fill(memory.assumingMemoryBound(to: UInt8.self))
        } catch {
            memory.deallocate()
            throw error
        }
        self.init(
            size: size, channels: channels, depth: .eight,
            storage: PixelMemory(adopting: memory, count: count) { $0.deallocate() })
    }
}
