import DirectCodecs
import HalcyonWork
import Vips

extension Bitmap {
    /// A bitmap whose pixels may be stored otherwise than they are shown.
    ///
    /// - Parameters:
    ///   - size: As shown.
    ///   - orientation: Of EXIF, 1…8.
    ///   - read: Writes the pixels as stored, in the size it is called with.
    init<Failure: Error>(
        size: PixelSize, channels: Int, depth: Depth = .eight, orientation: Int = 1,
        read: (PixelSize, UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let stored = size.turned(by: orientation)
        let bytesPerPixel = channels * depth.rawValue / 8
        let memory = PixelMemory.forPixels(count: size.pixelCount * bytesPerPixel)
        try read(stored, memory.bytes)
        guard orientation > 1 else {
            self.init(size: size, channels: channels, depth: depth, storage: memory)
            return
        }
        let shown = PixelMemory.forPixels(count: memory.count)
        // The bytes of a pixel stay together.
        PixelTurning.turn(
            memory.bytes, width: stored.width, height: stored.height, channels: bytesPerPixel,
            orientation: orientation, into: shown.bytes)
        self.init(size: size, channels: channels, depth: depth, storage: shown)
    }
}

extension Bitmap {
    /// Calls `body` with the samples as bytes: of 16 bits the upper eight.
    func withEightBits<R>(_ body: (UnsafePointer<UInt8>) throws -> R) rethrows -> R {
        try withUnsafeBytes { bytes in
            if depth == .eight, let base = bytes.baseAddress {
                return try body(base.assumingMemoryBound(to: UInt8.self))
            }
            let count = bytes.count / 2
            return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { upper in
                for index in 0..<count {
                    let sample = bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
                    upper.initializeElement(at: index, to: UInt8(sample >> 8))
                }
                return try body(UnsafePointer(upper.baseAddress!))
            }
        }
    }
}

extension Bitmap {
    /// Evaluates a pipeline whose result is sRGB with 3 or 4 bands of 8 or 16 bits.
    init(rendering image: VipsImage) throws {
        guard image.bands == 3 || image.bands == 4,
            image.format == .uchar || image.format == .ushort
        else {
            throw ImageCodingError.processing(
                reason: "a step gave \(image.bands) bands of \(image.format)")
        }
        let size = PixelSize(width: image.width, height: image.height)
        let depth: Depth = image.format == .ushort ? .sixteen : .eight
        let count = size.pixelCount * image.bands * depth.rawValue / 8
        try LargeMemory.check(count)
        let memory = PixelMemory.forPixels(count: count)
        try image.render(
            into: UnsafeMutableRawBufferPointer(start: memory.pointer, count: count))
        self.init(size: size, channels: image.bands, depth: depth, storage: memory)
    }

    /// These pixels as the start of a libvips pipeline; no copy is made.
    ///
    /// - Parameter interpretation: That of red, green and blue by default.
    func vipsImage(_ interpretation: VipsInterpretation? = nil) throws -> VipsImage {
        try VipsImage.memory(
            address, count: byteCount, owner: storage, width: size.width, height: size.height,
            bands: channels, format: depth == .eight ? .uchar : .ushort,
            interpretation: interpretation ?? (depth == .eight ? .srgb : .rgb16))
    }
}

extension Bitmap {
    /// Whether every pixel is wholly opaque. Looks at all of them.
    /// - Throws: An error of libvips.
    package func isOpaque() throws -> Bool {
        guard let alpha = try vipsImage().alphaSplit().alpha else { return true }
        return try alpha.run("min").double("out") >= (depth == .eight ? 255 : 65535)
    }
}

extension Bitmap {
    /// Whether no pixel has a colour. Looks at all of them, up to the first that has one.
    var isGrey: Bool {
        withUnsafeBytes { bytes in
            switch depth {
            case .eight: Self.areGrey(bytes.bindMemory(to: UInt8.self), channels: channels)
            case .sixteen: Self.areGrey(bytes.bindMemory(to: UInt16.self), channels: channels)
            }
        }
    }

    private static func areGrey<Sample: Equatable>(
        _ samples: UnsafeBufferPointer<Sample>, channels: Int
    ) -> Bool {
        var index = 0
        while index < samples.count {
            guard samples[index] == samples[index + 1], samples[index] == samples[index + 2] else {
                return false
            }
            index += channels
        }
        return true
    }

    /// Grey pixels as one band, or two where some of them are not opaque.
    func greyVipsImage() throws -> VipsImage {
        let image = try vipsImage()
        return try (isOpaque() ? image.alphaSplit().colour : image).withOneColour()
    }
}
