import Vips

/// What each sample becomes: one entry per value, for all bands or for each of several.
struct LookupTable: Sendable {
    let count: Int
    private let bands: Int
    private let format: VipsBandFormat
    private let memory: PixelMemory

    /// - Parameter samples: In the given format, the bands of an entry together.
    init<Sample: BitwiseCopyable>(_ samples: [Sample], bands: Int = 1, format: VipsBandFormat) {
        count = samples.count / bands
        self.bands = bands
        self.format = format
        memory = PixelMemory(samples: samples)
    }

    /// The table as the `lut` of libvips' `maplut`.
    func vipsImage() throws -> VipsImage {
        try VipsImage.memory(
            memory.pointer, count: memory.count, owner: memory, width: count, height: 1,
            bands: bands, format: format, interpretation: .multiband)
    }
}

extension PixelMemory {
    /// A copy of `samples`.
    convenience init<Sample: BitwiseCopyable>(samples: [Sample]) {
        let count = samples.count * MemoryLayout<Sample>.stride
        let pointer = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
        samples.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress {
                pointer.copyMemory(from: base, byteCount: count)
            }
        }
        self.init(adopting: pointer, count: count) { $0.deallocate() }
    }
}
