import CPNG

/// Writes PNG files with a filter chosen anew for each row, photographs with a compressor made for them,
/// others with libdeflate: several times as fast as zlib at the same size.
package struct PNGWriter {
    /// For what is no photograph, 1 (fast) … 12 (small), as libdeflate counts.
    package var level: Int
    /// Whether photographs are compressed in their own way.
    package var knowsPhotographs: Bool

    /// At this level files are mostly no larger than those of libpng's usual settings.
    package static let usualLevel = 2

    package init(level: Int = usualLevel, knowsPhotographs: Bool = true) {
        self.level = level
        self.knowsPhotographs = knowsPhotographs
    }

    /// The most bytes of rows that are compressed at once.
    static let largestStream = 256 << 20

    /// Writes pixels of 8 bits: rows from the top without padding, 3 channels (RGB) or 4 (RGBA, straight).
    /// Pixels that are all opaque are written as RGB.
    ///
    /// - Parameter pixels: `width × height × channels` bytes.
    /// - Returns: The file; `nil` when the picture is too large to be compressed at once, or there is no
    ///   memory for that.
    package func file(
        of pixels: UnsafePointer<UInt8>, width: Int, height: Int, channels: Int
    ) -> [UInt8]? {
        guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height),
            channels == 3 || channels == 4,
            width * channels + 1 <= Self.largestStream / height
        else { return nil }
        let dropsAlpha = channels == 4 && cpng_is_opaque(pixels, width * height)
        let stored = dropsAlpha ? 3 : channels
        let count = (width * stored + 1) * height
        let rows = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        defer { rows.deallocate() }
        Self.filter(
            pixels, width: width, height: height, channels: channels, stored: stored, into: rows)
        return compressed(rows, count: count) { writer in
            writer.append(bigEndian: UInt32(width))
            writer.append(bigEndian: UInt32(height))
            writer.append(contentsOf: [8, stored == 4 ? 6 : 2, 0, 0, 0])
        }
    }

    private static func filter(
        _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, channels: Int, stored: Int,
        into output: UnsafeMutablePointer<UInt8>
    ) {
        let count = width * stored
        // Two rows without alpha in turn, the row above the first, and what the choice needs.
        let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * count + 4 * (count + 32))
        defer { scratch.deallocate() }
        let zeros = scratch + 2 * count
        zeros.initialize(repeating: 0, count: count)
        var above = UnsafePointer(zeros)
        for y in 0..<height {
            var row = pixels + y * width * channels
            if stored != channels {
                let opaque = scratch + (y & 1) * count
                cpng_drop_alpha(row, opaque, width)
                row = UnsafePointer(opaque)
            }
            cpng_filter(
                row, above, output + y * (count + 1), count, stored, scratch + 3 * count)
            above = row
        }
    }

    private func compressed(
        _ rows: UnsafePointer<UInt8>, count: Int, header: (inout [UInt8]) -> Void
    ) -> [UInt8]? {
        guard let compressor = cpng_compressor_create(Int32(level)) else { return nil }
        defer { cpng_compressor_destroy(compressor) }
        let bound = cpng_compressed_bound(compressor, count)
        var headerBytes: [UInt8] = []
        header(&headerBytes)

        var file = PNGChunks.signature
        file.reserveCapacity(bound + 64)
        file.appendChunk("IHDR", headerBytes)
        let start = file.count
        file.append(contentsOf: [0, 0, 0, 0])
        file.append(contentsOf: "IDAT".utf8)
        let stream = [UInt8](unsafeUninitializedCapacity: bound) { output, size in
            if knowsPhotographs {
                size = cpng_compress_noise(rows, count, output.baseAddress, bound)
            }
            if size == 0 {
                size = cpng_compress(compressor, rows, count, output.baseAddress, bound)
            }
        }
        guard !stream.isEmpty else { return nil }
        file.append(contentsOf: stream)
        file.closeChunk(start)
        file.appendChunk("IEND", [])
        return file
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func appendChunk(_ name: StaticString, _ data: [UInt8]) {
        let start = count
        append(contentsOf: [0, 0, 0, 0])
        name.withUTF8Buffer { append(contentsOf: $0) }
        append(contentsOf: data)
        closeChunk(start)
    }

    /// Fills in the length of the chunk that begins at `start`, and adds its checksum.
    fileprivate mutating func closeChunk(_ start: Int) {
        let length = UInt32(count - start - 8)
        for index in 0..<4 {
            self[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index)))
        }
        let checksum = withUnsafeBytes { bytes in
            UnsafeRawBufferPointer(rebasing: bytes[(start + 4)...]).crc32
        }
        append(bigEndian: checksum)
    }
}
