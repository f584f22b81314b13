/// The header of one scan of a progressive file, and what was in force there.
struct ProgressiveScan {
    /// It tells the means alone, or some of one component's other coefficients.
    let header: ScanHeader
    let tables: JPEGTables
    let start: Int

    var isFirst: Bool { header.high == 0 }
    var isOfMeans: Bool { header.band.lowerBound == 0 }

    /// From the content of an SOS segment (ITU-T T.81, G.1.1.1).
    init(
        _ content: ArraySlice<UInt8>, frame: FrameHeader, tables: JPEGTables, start: Int
    ) throws(JPEGRefusal) {
        header = try ScanHeader(content, frame: frame)
        let (band, high, low) = (header.band, header.high, header.low)
        guard band.lowerBound > 0 || band.upperBound == 0,
            header.members.count == 1 || band.lowerBound == 0, low < 14,
            high == 0 || high == low + 1
        else { throw .scans }
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
            for member in scan.header.members {
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
                let component = scan.header.members[0].component
                guard wanted[component] & scan.header.band.mask != 0 else { continue }
                if !scan.isFirst { wanted[component] |= scan.header.band.mask }
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
        for place in scan.header.band {
            guard bits[place] == (scan.isFirst ? Self.unknown : scan.header.high) else {
                throw .scans
            }
            bits[place] = scan.header.low
        }
    }

    /// Whether the means and the lowest frequencies are known: where these are missing, libjpeg guesses them.
    var areEnough: Bool { bits[0] != Self.unknown && bits[1...9].allSatisfy { $0 == 0 } }
}
