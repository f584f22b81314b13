import CDecoding
import Foundation

/// The pixels of a Windows bitmap.
struct BMPPixels {
    private let reader: ByteReader
    private let header: BMPHeader
    /// Red, green and blue of each index; of those that the file does not have, black.
    private let palette: [UInt8]
    private let fields: [BitField]

    init(_ reader: ByteReader, _ header: BMPHeader) {
        self.reader = reader
        self.header = header
        fields = header.masks.map(BitField.init)
        var palette = [UInt8](repeating: 0, count: 256 * 3)
        for index in 0..<header.paletteCount {
            let entry = header.paletteOffset + index * header.paletteEntrySize
            // Stored as blue, green, red. A table that is cut short goes on in black.
            for channel in 0..<3 {
                palette[index * 3 + channel] = reader.byte(entry + 2 - channel) ?? 0
            }
        }
        self.palette = palette
    }

    /// RGBA when the header tells of alpha, else RGB, from the top row down.
    func decoded() throws(BMPFailure) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: header.size.pixelCount * channels)
        var failure: BMPFailure?
        output.withUnsafeMutableBufferPointer { output in
            guard let pixels = output.baseAddress else { return }
            do throws(BMPFailure) { try decode(into: pixels) } catch { failure = error }
        }
        if let failure { throw failure }
        return output
    }

    /// 4 when the header tells of alpha, else 3.
    var channels: Int { header.hasAlpha ? 4 : 3 }

    /// Writes all pixels from the top row down, without padding.
    func decode(into output: UnsafeMutablePointer<UInt8>) throws(BMPFailure) {
        guard header.compression != .rle8, header.compression != .rle4 else {
            return try decodeRuns(into: output)
        }
        for row in 0..<header.size.height {
            try checkTime()
            let storedRow = header.isTopDown ? row : header.size.height - 1 - row
            guard
                let bytes = reader.slice(
                    header.pixelOffset + storedRow * header.rowSize, count: header.usedRowSize)
            else { throw .corrupt("it is cut short") }
            writeRow(output + row * header.size.width * channels, bytes)
        }
    }

    private func checkTime() throws(BMPFailure) {
        if cdecoding_is_late() { throw .corrupt("it takes too long") }
    }

    private func put(_ place: UnsafeMutablePointer<UInt8>, _ index: Int) {
        palette.withUnsafeBufferPointer { palette in
            place[0] = palette[index * 3]
            place[1] = palette[index * 3 + 1]
            place[2] = palette[index * 3 + 2]
        }
    }

    private func writeRow(
        _ output: UnsafeMutablePointer<UInt8>, _ row: UnsafeRawBufferPointer
    ) {
        let width = header.size.width
        switch header.bitsPerPixel {
        case 24:
            for x in 0..<width {
                output[x * 3] = row[x * 3 + 2]
                output[x * 3 + 1] = row[x * 3 + 1]
                output[x * 3 + 2] = row[x * 3]
            }
        case 16, 32:
            let size = header.bitsPerPixel / 8
            let channels = channels
            for x in 0..<width {
                let pixel =
                    size == 2
                    ? UInt32(row.loadUnaligned(fromByteOffset: x * 2, as: UInt16.self).littleEndian)
                    : row.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self).littleEndian
                for channel in 0..<channels {
                    output[x * channels + channel] = fields[channel].value(in: pixel)
                }
            }
        default:
            let bits = header.bitsPerPixel
            for x in 0..<width {
                let bit = x * bits
                let index = Int(row[bit / 8]) >> (8 - bits - bit % 8) & ((1 << bits) - 1)
                put(output + x * 3, index)
            }
        }
    }

    /// Writes the pixels of a run-length coded bitmap. Those that are skipped have index 0.
    private func decodeRuns(into output: UnsafeMutablePointer<UInt8>) throws(BMPFailure) {
        let isNibbles = header.compression == .rle4
        let (width, height) = (header.size.width, header.size.height)
        var (x, y, offset) = (0, 0, header.pixelOffset)
        for place in 0..<width * height { put(output + place * 3, 0) }

        /// Writes `count` pixels; those beyond the row or the picture are cut off.
        func run(_ count: Int, _ index: (Int) -> UInt8) {
            if x < width, y < height {
                let row = header.isTopDown ? y : height - 1 - y
                let target = output + (row * width + x) * 3
                for position in 0..<min(count, width - x) {
                    put(target + position * 3, Int(index(position)))
                }
            }
            x += count
        }
        func nibble(_ byte: UInt8, _ position: Int) -> UInt8 {
            position % 2 == 0 ? byte >> 4 : byte & 15
        }

        while let count = reader.byte(offset), let value = reader.byte(offset + 1) {
            offset += 2
            switch (count, value) {
            case (1..., _):
                run(Int(count)) { isNibbles ? nibble(value, $0) : value }
            case (0, 0):
                (x, y) = (0, y + 1)
                try checkTime()
            case (0, 1):
                return
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
                run(Int(value)) { isNibbles ? nibble(bytes[$0 / 2], $0) : bytes[$0] }
                // Literal pixels are padded to an even number of bytes.
                offset += byteCount + byteCount % 2
            }
        }
        // The end mark may be missing after the last row.
        guard y >= height || y == height - 1 && x >= width else {
            throw .corrupt("it is cut short")
        }
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
