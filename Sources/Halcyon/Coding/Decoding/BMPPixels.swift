import Foundation

/// The pixels of a Windows bitmap.
struct BMPPixels {
    private let reader: ByteReader
    private let header: BMPHeader
    private let palette: [[UInt8]]
    private let fields: [BitField]

    init(_ reader: ByteReader, _ header: BMPHeader) {
        self.reader = reader
        self.header = header
        fields = header.masks.map(BitField.init)
        palette = (0..<header.paletteCount).map { index in
            let entry = header.paletteOffset + index * header.paletteEntrySize
            // Stored as blue, green, red. A table that is cut short goes on in black.
            return [2, 1, 0].map { reader.byte(entry + $0) ?? 0 }
        }
    }

    /// Decodes into RGBA when the header tells of alpha, else RGB, from the top row down.
    func decoded() throws(BMPFailure) -> [UInt8] {
        let channels = header.hasAlpha ? 4 : 3
        var output = [UInt8](repeating: 0, count: header.size.pixelCount * channels)
        let indices = try runLengthDecoded()
        for row in 0..<header.size.height {
            let storedRow = header.isTopDown ? row : header.size.height - 1 - row
            let start = row * header.size.width * channels
            if let indices {
                writeIndices(&output, start, indices[(storedRow * header.size.width)...])
                continue
            }
            guard
                let bytes = reader.slice(
                    header.pixelOffset + storedRow * header.rowSize, count: header.usedRowSize)
            else { throw .corrupt("it is cut short") }
            writeRow(&output, start, bytes, channels)
        }
        return output
    }

    private func writeIndices(_ output: inout [UInt8], _ start: Int, _ indices: ArraySlice<UInt8>) {
        for (column, index) in indices.prefix(header.size.width).enumerated() {
            put(&output, start + column * 3, Int(index))
        }
    }

    private func put(_ output: inout [UInt8], _ place: Int, _ index: Int) {
        guard index < palette.count else { return }
        let colour = palette[index]
        output[place] = colour[0]
        output[place + 1] = colour[1]
        output[place + 2] = colour[2]
    }

    private func writeRow(
        _ output: inout [UInt8], _ start: Int, _ row: UnsafeRawBufferPointer, _ channels: Int
    ) {
        let width = header.size.width
        switch header.bitsPerPixel {
        case 24:
            for x in 0..<width {
                output[start + x * 3] = row[x * 3 + 2]
                output[start + x * 3 + 1] = row[x * 3 + 1]
                output[start + x * 3 + 2] = row[x * 3]
            }
        case 16, 32:
            let size = header.bitsPerPixel / 8
            for x in 0..<width {
                let pixel =
                    size == 2
                    ? UInt32(row.loadUnaligned(fromByteOffset: x * 2, as: UInt16.self).littleEndian)
                    : row.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self).littleEndian
                for channel in 0..<channels {
                    output[start + x * channels + channel] = fields[channel].value(in: pixel)
                }
            }
        default:
            let bits = header.bitsPerPixel
            for x in 0..<width {
                let bit = x * bits
                let index = Int(row[bit / 8]) >> (8 - bits - bit % 8) & ((1 << bits) - 1)
                put(&output, start + x * 3, index)
            }
        }
    }

    /// The palette indices of a run-length coded bitmap, in stored order; `nil` for other bitmaps.
    /// Pixels that are skipped have index 0.
    private func runLengthDecoded() throws(BMPFailure) -> [UInt8]? {
        guard header.compression == .rle8 || header.compression == .rle4 else { return nil }
        let isNibbles = header.compression == .rle4
        let (width, height) = (header.size.width, header.size.height)
        var indices = [UInt8](repeating: 0, count: width * height)
        var (x, y, offset) = (0, 0, header.pixelOffset)

        func put(_ index: UInt8) {
            // Runs that go on beyond the row or the picture are cut off.
            if x < width, y < height { indices[y * width + x] = index }
            x += 1
        }
        func nibble(_ byte: UInt8, _ position: Int) -> UInt8 {
            position % 2 == 0 ? byte >> 4 : byte & 15
        }

        while let count = reader.byte(offset), let value = reader.byte(offset + 1) {
            offset += 2
            switch (count, value) {
            case (1..., _):
                for position in 0..<Int(count) { put(isNibbles ? nibble(value, position) : value) }
            case (0, 0):
                (x, y) = (0, y + 1)
            case (0, 1):
                return indices
            case (0, 2):
                guard let right = reader.byte(offset), let up = reader.byte(offset + 1) else {
                    throw .corrupt("it is cut short")
                }
                (x, y, offset) = (x + Int(right), y + Int(up), offset + 2)
            default:
                let byteCount = isNibbles ? (Int(value) + 1) / 2 : Int(value)
                guard let bytes = reader.slice(offset, count: byteCount) else {
                    throw .corrupt("it is cut short")
                }
                for position in 0..<Int(value) {
                    put(isNibbles ? nibble(bytes[position / 2], position) : bytes[position])
                }
                // Literal pixels are padded to an even number of bytes.
                offset += byteCount + byteCount % 2
            }
        }
        // The end mark may be missing after the last row.
        guard y >= height || y == height - 1 && x >= width else {
            throw .corrupt("it is cut short")
        }
        return indices
    }
}

/// A run of bits in a pixel, scaled to 8 bits.
private struct BitField {
    private let mask: UInt32
    private let shift: Int
    private let maximum: Int

    init(_ mask: UInt32) {
        self.mask = mask
        shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        maximum = Int(mask >> UInt32(shift))
    }

    func value(in pixel: UInt32) -> UInt8 {
        guard maximum > 0 else { return 0 }
        let value = Int((pixel & mask) >> UInt32(shift))
        return UInt8((value * 255 + maximum / 2) / maximum)
    }
}
