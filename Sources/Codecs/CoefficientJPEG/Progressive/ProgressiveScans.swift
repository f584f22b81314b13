/// The header of one scan of a progressive file, and what was in force there.
struct ProgressiveScan {
    struct Member {
        /// Its place among the components of the frame.
        let component: Int
        /// The slots of its Huffman tables, 0...3.
        let direct: Int
        let alternating: Int
    }

    let members: [Member]
    /// The places of the zigzag order that it tells of: the mean alone, or some of one component's others.
    let band: ClosedRange<Int>
    /// The bit down to which coefficients were known before; 0 when this is their first scan.
    let high: Int
    /// The bit down to which they are known then.
    let low: Int
    let tables: JPEGTables
    /// Where its coded data starts.
    let start: Int

    var isFirst: Bool { high == 0 }
    var isOfMeans: Bool { band.lowerBound == 0 }

    /// From the content of an SOS segment (ITU-T T.81, B.2.3 and G.1.1.1).
    init(
        _ content: ArraySlice<UInt8>, frame: FrameHeader, tables: JPEGTables, start: Int
    ) throws(JPEGRefusal) {
        let bytes = Array(content)
        guard let count = bytes.first.map(Int.init), bytes.count == 4 + 2 * count else {
            throw .segment
        }
        guard (1...frame.components.count).contains(count) else { throw .scans }
        var members: [Member] = []
        for index in 0..<count {
            let (name, slots) = (bytes[1 + 2 * index], bytes[2 + 2 * index])
            // Components keep their order, so that none comes twice.
            let next = members.last.map { $0.component + 1 } ?? 0
            guard
                let component = frame.components[next...].firstIndex(where: {
                    $0.identifier == name
                })
            else { throw .scans }
            guard slots >> 4 < 4, slots & 15 < 4 else { throw .huffman }
            members.append(
                Member(
                    component: component, direct: Int(slots >> 4), alternating: Int(slots & 15)))
        }
        let end = bytes.suffix(3).map(Int.init)
        let (high, low) = (end[2] >> 4, end[2] & 15)
        guard end[0] <= end[1], end[1] < 64, end[0] > 0 || end[1] == 0, count == 1 || end[0] == 0,
            low < 14, high == 0 || high == low + 1
        else { throw .scans }
        self.members = members
        band = end[0]...end[1]
        self.high = high
        self.low = low
        self.tables = tables
        self.start = start
    }
}

/// The scans of a progressive file, which together tell all that is needed.
struct ProgressiveScans {
    /// More than any encoder writes. Each may cost a pass over the whole picture.
    private static let limit = 100

    private(set) var scans: [ProgressiveScan] = []
    /// The steps of each component, those in force at its first scan.
    let quantisation: [[UInt8]]

    /// Reads the headers of all scans, up to the end of the image.
    init(of bytes: UnsafeRawBufferPointer, _ header: JPEGHeader) throws(JPEGRefusal) {
        let frame = header.frame
        var segments = SegmentReader(bytes, from: header.scanStart)
        var tables = header.tables
        var next: ArraySlice<UInt8>? = header.scan
        var quantisation: [[UInt8]?] = frame.components.map { _ in nil }
        var known = frame.components.map { _ in KnownBits() }
        while let content = next {
            guard scans.count < Self.limit else { throw .scans }
            let scan = try ProgressiveScan(
                content, frame: frame, tables: tables, start: segments.position)
            for member in scan.members {
                let index = member.component
                try known[index].take(scan)
                // Scans that are passed over have to be complete as well.
                if !scan.isOfMeans {
                    _ = try tables.alternating(member.alternating)
                } else if scan.isFirst {
                    _ = try tables.direct(member.direct)
                }
                guard quantisation[index] == nil else { continue }
                quantisation[index] = try tables.quantisation(frame.components[index].quantisation)
            }
            scans.append(scan)
            try segments.passScan()
            next = nil
            while next == nil, !segments.isAtEnd {
                let (marker, content) = try segments.next()
                if marker == 0xDA { next = content } else { try tables.take(marker, content) }
            }
        }
        guard known.allSatisfy(\.areEnough) else { throw .scans }
        self.quantisation = quantisation.compactMap(\.self)
    }

    /// The scans that have to be read for the coefficients at some places of each component, which are bits.
    ///
    /// Where a scan adds bits to coefficients, it says nothing of those that are still 0: so all have to be known that
    /// lie in its band.
    func needed(for places: [UInt64]) -> [ProgressiveScan] {
        var wanted = places
        var needed: [ProgressiveScan] = []
        for scan in scans.reversed() {
            if !scan.isOfMeans {
                let component = scan.members[0].component
                guard wanted[component] & scan.band.mask != 0 else { continue }
                if !scan.isFirst { wanted[component] |= scan.band.mask }
            }
            needed.append(scan)
        }
        return needed.reversed()
    }
}

extension ClosedRange<Int> {
    /// A bit for each place, 0...63.
    var mask: UInt64 {
        (UInt64.max >> UInt64(63 - upperBound)) & (UInt64.max << UInt64(lowerBound))
    }
}

/// Down to which bit the coefficients of a component are known.
private struct KnownBits {
    private static let unknown = -1
    private var bits = [Int](repeating: unknown, count: 64)

    /// Takes note of a scan, which has to go on where those before it have ended.
    mutating func take(_ scan: ProgressiveScan) throws(JPEGRefusal) {
        guard scan.isOfMeans || bits[0] != Self.unknown else { throw .scans }
        for place in scan.band {
            guard bits[place] == (scan.isFirst ? Self.unknown : scan.high) else { throw .scans }
            bits[place] = scan.low
        }
    }

    /// Whether the means and the lowest frequencies are known: where these are missing, libjpeg guesses them.
    var areEnough: Bool { bits[0] != Self.unknown && bits[1...9].allSatisfy { $0 == 0 } }
}
