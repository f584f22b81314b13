import CCodecs

/// Writes PNG files with a filter chosen anew for each row and libdeflate: several times as fast as zlib at nearly the
/// same size.
package enum PNGWriter {
    /// A level of 1 (fast) … 12 (small) in libdeflate: files are mostly no larger than those of libpng's usual settings.
    private static let level = 2

    /// The most bytes of rows that are compressed at once.
    static let largestStream = 256 << 20

    /// Writes pixels of 8 bits: rows from the top without padding, 3 channels (RGB) or 4 (RGBA, straight).
    /// Pixels that are all opaque are written as RGB.
    ///
    /// - Parameter pixels: `width × height × channels` bytes.
    /// - Returns: The file; `nil` when the picture is too large to be compressed at once, or there is no
    ///   memory for that.
    package static func file(
        of pixels: UnsafePointer<UInt8>, width: Int, height: Int, channels: Int
    ) -> [UInt8]? {
        guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height),
            channels == 3 || channels == 4,
            width * channels + 1 <= largestStream / height
        else { return nil }
        let dropsAlpha = channels == 4 && cpng_is_opaque(pixels, width * height)
        let stored = dropsAlpha ? 3 : channels
        let stream = stream(
            of: pixels, bytesPerRow: width * channels, width: width, height: height,
            channels: channels, stored: stored)
        guard let stream else { return nil }
        var file = PNGChunks.signature
        file.reserveCapacity(stream.count + 64)
        file.appendHeader(width: width, height: height, channels: stored)
        file.appendChunk("IDAT") { $0.append(contentsOf: stream) }
        file.appendChunk("IEND") { _ in }
        return file
    }

    /// The rows of a picture, filtered and compressed; `nil` when there is no memory for that.
    ///
    /// - Parameters:
    ///   - channels: Of the pixels, 3 or 4.
    ///   - stored: Of the rows, as many or 3, without the opacity.
    static func stream(
        of pixels: UnsafePointer<UInt8>, bytesPerRow: Int, width: Int, height: Int, channels: Int,
        stored: Int
    ) -> [UInt8]? {
        let count = width * stored
        let rows = UnsafeMutablePointer<UInt8>.allocate(capacity: (count + 1) * height)
        defer { rows.deallocate() }
        // Two rows without alpha in turn, the row above the first, and what the choice needs.
        let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * count + 4 * (count + 32))
        defer { scratch.deallocate() }
        let zeros = scratch + 2 * count
        zeros.initialize(repeating: 0, count: count)
        var above = UnsafePointer(zeros)
        for y in 0..<height {
            var row = pixels + y * bytesPerRow
            if stored != channels {
                let opaque = scratch + (y & 1) * count
                cpng_drop_alpha(row, opaque, width)
                row = UnsafePointer(opaque)
            }
            cpng_filter(
                row, above, rows + y * (count + 1), count, stored, scratch + 3 * count)
            above = row
        }
        return compressed(rows, count: (count + 1) * height, level: level)
    }

    /// The bytes as a zlib stream; `nil` when there is no memory for that.
    static func compressed(
        _ bytes: UnsafePointer<UInt8>, count: Int, level: Int
    ) -> [UInt8]? {
        let bound = cpng_compressed_bound(count)
        let stream = [UInt8](unsafeUninitializedCapacity: bound) { output, size in
            size = cpng_compress(bytes, count, Int32(level), output.baseAddress, bound)
        }
        return stream.isEmpty ? nil : stream
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a chunk of a PNG file (ISO/IEC 15948, section 5.3) with the data that `write` appends.
    mutating func appendChunk(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
        let start = count
        append(contentsOf: [0, 0, 0, 0])
        name.withUTF8Buffer { append(contentsOf: $0) }
        write(&self)
        let length = UInt32(count - start - 8)
        for index in 0..<4 {
            self[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index)))
        }
        let checksum = withUnsafeBytes { bytes in
            UnsafeRawBufferPointer(rebasing: bytes[(start + 4)...]).crc32
        }
        append(bigEndian: checksum)
    }

    /// Appends the first chunk of a file of 8 bits a sample, RGB or RGBA.
    mutating func appendHeader(width: Int, height: Int, channels: Int) {
        appendChunk("IHDR") { header in
            header.append(bigEndian: UInt32(width))
            header.append(bigEndian: UInt32(height))
            header.append(contentsOf: [8, channels == 4 ? 6 : 2, 0, 0, 0])
        }
    }
}
