import Foundation

/// The parts of a progressive file that show at an eighth of its size: of luminance the mean of each 8×8
/// block (its DC coefficient), of chroma everything, since that may be decoded at a quarter. The rest is
/// most of the work.
enum JPEGCoarseScans {
    /// Calls `body` with the file without the scans of other coefficients; with the whole file if it is
    /// cut short or unusual, so that it is judged as a whole.
    static func withPieces<R>(
        of file: UnsafeRawBufferPointer,
        _ body: ([UnsafeRawBufferPointer]) throws(DirectCodecError) -> R
    ) throws(DirectCodecError) -> R {
        guard let ranges = coarseRanges(of: file) else { return try body([file]) }
        return try body(ranges.map { UnsafeRawBufferPointer(rebasing: file[$0]) })
    }

    /// What to keep, with the end of the image; `nil` when the file does not reach it.
    private static func coarseRanges(of file: UnsafeRawBufferPointer) -> [Range<Int>]? {
        var luminance: UInt8?
        var kept: [Range<Int>] = []
        var start = 0
        var offset = 2
        while true {
            guard file.byte(at: offset) == 0xFF, let code = file.byte(at: offset + 1) else {
                return nil
            }
            if code == 0xFF {
                offset += 1
                continue
            }
            if code == 0xD9 {
                kept.append(start..<offset + 2)
                return kept
            }
            guard let length = file.integer(at: offset + 2, length: 2), length >= 2,
                length <= file.count - offset - 2
            else { return nil }
            if code == 0xC2 { luminance = file.byte(at: offset + 10) }
            guard code == 0xDA else {
                offset += 2 + length
                continue
            }
            // The first coefficient of a scan is the last but two of its header's bytes.
            guard let first = file.byte(at: offset + 2 + length - 3),
                let component = file.byte(at: offset + 5),
                let end = endOfScan(in: file, from: offset + 2 + length)
            else { return nil }
            if first != 0, component == luminance {
                kept.append(start..<offset)
                start = end
            }
            offset = end
        }
    }

    /// Where the next mark is that is neither a restart nor a stuffed byte.
    private static func endOfScan(in file: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = file.baseAddress else { return nil }
        var offset = start
        while offset < file.count,
            let found = memchr(base + offset, 0xFF, file.count - offset)
        {
            offset = UnsafeRawPointer(found) - base
            guard let code = file.byte(at: offset + 1) else { return nil }
            if code != 0, !(0xD0...0xD7).contains(code) { return offset }
            offset += 2
        }
        return nil
    }
}
