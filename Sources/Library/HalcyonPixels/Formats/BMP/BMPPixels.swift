import CCodecs
import DirectCodecs
import Foundation

/// The pixels of a Windows bitmap.
struct BMPPixels {
    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    /// Red, green and blue of each index; of those that the file does not have, black.
    private let palette: [UInt8]
    private let fields: [BitField]

    init(_ bytes: UnsafeRawBufferPointer, _ header: BMPHeader) {
        self.bytes = bytes
        self.header = header
        fields = header.masks.map(BitField.init)
        var palette = [UInt8](repeating: 0, count: 256 * 3)
        for index in 0..<header.paletteCount {
            let entry = header.paletteOffset + index * header.paletteEntrySize
            // Stored as blue, green, red. A table that is cut short goes on in black.
            for channel in 0..<3 {
                palette[index * 3 + channel] = bytes.byte(at: entry + 2 - channel) ?? 0
            }
        }
        self.palette = palette
    }

    /// 4 when the header tells of alpha, else 3.
    var channels: Int { header.hasAlpha ? 4 : 3 }

    /// Writes all pixels, RGB or RGBA, from the top row down, without padding.
    func decode(into output: UnsafeMutablePointer<UInt8>) throws(CodecRefusal) {
        let rowBytes = header.size.width * channels
        try forEachRow(
            in: { output + (header.isTopDown ? $0 : header.size.height - 1 - $0) * rowBytes },
            finish: {})
    }

    /// Writes all pixels in another size, resampled while their rows are decoded.
    func decode(into output: UnsafeMutablePointer<UInt8>, size: PixelSize) throws(CodecRefusal) {
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: header.size.width * channels)
        defer { row.deallocate() }
        let reducer = PixelReducer(
            source: (header.size.width, header.size.height), width: size.width,
            height: size.height, channels: channels, depth: 8, isUpsideDown: !header.isTopDown,
            into: output)
        try forEachRow(in: { _ in row }) { reducer.push(row) }
    }

    /// Writes the pixels of an icon as RGBA, from the top row down: where nothing is opaque, or there is no alpha,
    /// transparent where the mask of one bit per pixel after them is set. A missing mask is clear.
    func decodeIcon(into pixels: UnsafeMutablePointer<UInt8>) throws(CodecRefusal) {
        try decode(into: pixels)
        let places = 0..<header.size.pixelCount
        guard !header.hasAlpha || places.allSatisfy({ pixels[4 * $0 + 3] == 0 }) else { return }
        let (width, channels) = (header.size.width, channels)
        let rowSize = (width + 31) / 32 * 4
        let maskOffset = header.pixelOffset + header.rowSize * header.size.height
        // From the last pixel on, so that none is overwritten before it is moved.
        for place in places.reversed() {
            let (y, x) = place.quotientAndRemainder(dividingBy: width)
            for channel in (0..<3).reversed() {
                pixels[place * 4 + channel] = pixels[place * channels + channel]
            }
            let storedRow = header.isTopDown ? y : header.size.height - 1 - y
            let byte = bytes.byte(at: maskOffset + storedRow * rowSize + x / 8) ?? 0
            pixels[place * 4 + 3] = byte & (0x80 >> UInt8(x % 8)) == 0 ? 255 : 0
        }
    }

    /// Decodes row after row in the order of the file.
    ///
    /// - Parameters:
    ///   - room: Where the pixels of a row go.
    ///   - finish: Called when those of a row are there.
    private func forEachRow(
        in room: (Int) -> UnsafeMutablePointer<UInt8>, finish: () -> Void
    ) throws(CodecRefusal) {
        guard header.compression != .rle8, header.compression != .rle4 else {
            return try forEachRowOfRuns(in: room, finish: finish)
        }
        for row in 0..<header.size.height {
            try checkTime()
            guard
                let bytes = bytes.slice(
                    header.pixelOffset + row * header.rowSize, count: header.usedRowSize)
            else { throw .damaged("it is cut short") }
            writeRow(room(row), bytes)
            finish()
        }
    }

    private func checkTime() throws(CodecRefusal) {
        if cdecoding_is_late() { throw .damaged("it takes too long") }
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

    /// Decodes the rows of a run-length coded bitmap. Pixels that are skipped have index 0.
    private func forEachRowOfRuns(
        in room: (Int) -> UnsafeMutablePointer<UInt8>, finish: () -> Void
    ) throws(CodecRefusal) {
        let isNibbles = header.compression == .rle4
        var runs = RunRow(width: header.size.width, palette: palette, pixels: room(0))
        var (y, offset) = (0, header.pixelOffset)

        /// Goes `count` rows on; those beyond the picture are cut off.
        func advance(_ count: Int) throws(CodecRefusal) {
            for _ in 0..<min(count, header.size.height - y) {
                try checkTime()
                finish()
                y += 1
                if y < header.size.height { runs.begin(room(y)) } else { runs.close() }
            }
        }

        while let count = bytes.byte(at: offset), let value = bytes.byte(at: offset + 1) {
            offset += 2
            switch (count, value) {
            case (1..., _):
                let (even, odd) = isNibbles ? (value >> 4, value & 15) : (value, value)
                runs.fill(even, odd, count: Int(count))
            case (0, 0):
                runs.x = 0
                try advance(1)
            case (0, 1):
                return try advance(header.size.height)
            case (0, 2):
                guard let right = bytes.byte(at: offset), let up = bytes.byte(at: offset + 1) else {
                    throw .damaged("it is cut short")
                }
                offset += 2
                runs.x += Int(right)
                try advance(Int(up))
            default:
                let byteCount = isNibbles ? (Int(value) + 1) / 2 : Int(value)
                guard let bytes = bytes.slice(offset, count: byteCount) else {
                    throw .damaged("it is cut short")
                }
                if isNibbles {
                    runs.append(Int(value)) {
                        $0 % 2 == 0 ? bytes[$0 / 2] >> 4 : bytes[$0 / 2] & 15
                    }
                } else {
                    runs.append(Int(value)) { bytes[$0] }
                }
                // Literal pixels are padded to an even number of bytes.
                offset += byteCount + byteCount % 2
            }
        }
        // The end mark may be missing after the last row.
        guard y >= header.size.height || y == header.size.height - 1 && runs.x >= header.size.width
        else { throw .damaged("it is cut short") }
        try advance(1)
    }
}

/// A row of RGB pixels that is made of runs; those beyond its end are cut off.
private struct RunRow {
    /// Where the next run begins.
    var x = 0

    private var width: Int
    private let palette: [UInt8]
    private var pixels: UnsafeMutablePointer<UInt8>

    init(width: Int, palette: [UInt8], pixels: UnsafeMutablePointer<UInt8>) {
        self.width = width
        self.palette = palette
        self.pixels = pixels
        begin(pixels)
    }

    /// Goes on with another row, of index 0 as yet, at the same place in it.
    mutating func begin(_ pixels: UnsafeMutablePointer<UInt8>) {
        self.pixels = pixels
        let place = x
        x = 0
        fill(0, 0, count: width)
        x = place
    }

    /// Cuts everything off from here on.
    mutating func close() {
        width = 0
    }

    /// Appends two indices in turn.
    mutating func fill(_ even: UInt8, _ odd: UInt8, count: Int) {
        append(count) { $0 % 2 == 0 ? even : odd }
    }

    @inline(__always)
    mutating func append(_ count: Int, _ index: (Int) -> UInt8) {
        palette.withUnsafeBufferPointer { palette in
            for position in 0..<max(0, min(count, width - x)) {
                let target = pixels + (x + position) * 3
                let entry = Int(index(position)) * 3
                target[0] = palette[entry]
                target[1] = palette[entry + 1]
                target[2] = palette[entry + 2]
            }
        }
        x += count
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
