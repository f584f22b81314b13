/// The planes of a progressive file at an eighth of its size, made of the means of its blocks. Chroma that
/// is stored with half the resolution stays so.
final class JPEGMeanPlanes: JPEGPlaneSource {
    let planes: [JPEGPlane]
    private let means: JPEGMeans
    private var nextStrip = 0

    /// `nil` for files that have to be decoded otherwise.
    init?(_ file: UnsafeRawBufferPointer, header: JPEGHeader) {
        guard let means = JPEGMeans(file), means.frame.width == header.width,
            means.frame.height == header.height
        else { return nil }
        self.means = means
        let frame = means.frame
        let (across, down) = (frame.components[0].horizontal, frame.components[0].vertical)
        planes = means.components.map { component in
            JPEGPlane(
                width: component.width, height: component.height,
                extentX: Double(frame.width * component.frame.horizontal) / Double(8 * across),
                extentY: Double(frame.height * component.frame.vertical) / Double(8 * down),
                rowCapacity: component.stride, stripHeight: component.frame.vertical)
        }
    }

    func readStrip(into rows: JPEGStrip) throws(DirectCodecError) {
        for (index, component) in means.components.enumerated() {
            guard let strip = rows[index], let factor = component.factor else { continue }
            for row in 0..<component.frame.vertical {
                guard let target = strip[row] else { continue }
                let y = nextStrip * component.frame.vertical + row
                let values = component.values + y * component.stride
                for x in 0..<component.stride {
                    // The inverse transform of a block without other coefficients.
                    let level = (Int(values[x]) * factor + 4) >> 3 + 128
                    target[x] = UInt8(clamping: level)
                }
            }
        }
        nextStrip += 1
    }
}

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
        var segments = JPEGSegments(file)
        while let segment = segments.next() {
            guard !JPEGSegments.standsAlone(segment.code) else { return nil }
            if segment.code == 0xC2 { luminance = segment.content.byte(at: 6) }
            guard segment.code == 0xDA else { continue }
            guard let scan = JPEGScan(segment.content), segments.passScan() else { return nil }
            if scan.first != 0, scan.members[0].identifier == luminance {
                kept.append(start..<segment.start)
                start = segments.offset
            }
        }
        guard segments.hasEnded else { return nil }
        kept.append(start..<segments.offset)
        return kept
    }
}

/// The tables in force while the means of a progressive file are decoded.
struct JPEGMeanTables {
    /// The first value of each quantisation table.
    private(set) var quantizers = [Int?](repeating: nil, count: 4)
    private(set) var codes = [HuffmanTable?](repeating: nil, count: 4)
    /// Units between two restarts; 0 for none.
    private(set) var restartInterval = 0

    /// Takes a segment of any kind; false when it is damaged.
    mutating func take(_ code: UInt8, _ content: UnsafeRawBufferPointer) -> Bool {
        switch code {
        case 0xDB: return takeQuantizers(content)
        case 0xC4: return takeCodes(content)
        case 0xDD:
            guard let interval = content.integer(at: 0, length: 2) else { return false }
            restartInterval = interval
            return true
        default: return true
        }
    }

    private mutating func takeQuantizers(_ content: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while let head = content.byte(at: offset) {
            let size = head >> 4 == 0 ? 1 : 2
            guard head >> 4 <= 1, head & 15 < 4, offset + 1 + 64 * size <= content.count,
                let first = content.integer(at: offset + 1, length: size)
            else { return false }
            quantizers[Int(head & 15)] = first
            offset += 1 + 64 * size
        }
        return true
    }

    private mutating func takeCodes(_ content: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while let head = content.byte(at: offset) {
            guard head & 15 < 4, offset + 17 <= content.count else { return false }
            let counts = UnsafeRawBufferPointer(rebasing: content[offset + 1..<offset + 17])
            let end = offset + 17 + counts.reduce(0) { $0 + Int($1) }
            guard end <= content.count else { return false }
            // Tables for other coefficients are passed over.
            if head >> 4 == 0 {
                let symbols = UnsafeRawBufferPointer(rebasing: content[offset + 17..<end])
                guard let table = HuffmanTable(counts: counts, symbols: symbols) else {
                    return false
                }
                codes[Int(head & 15)] = table
            }
            offset = end
        }
        return true
    }
}
