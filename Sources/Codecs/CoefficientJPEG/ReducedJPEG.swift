import CCodecs

/// A JPEG file that can be decoded at a fraction of its size while most of its content is skipped.
///
/// In a reduced picture almost all time goes into Huffman codes whose values are thrown away. Here a
/// table tells for the next 13 bits how far whole runs of codes reach, and they are stepped over; a
/// value is taken only where the smaller picture shows it.
///
/// Baseline files of one scan and progressive files are decoded, with one component or with Y, Cb
/// and Cr. All other files, and inconsistent ones, are refused and left to a decoder that can
/// report more: nothing is guessed, and delivered pictures are complete. At 1/8 the planes equal
/// libjpeg-turbo's; at 1/4 and 1/2 they are made of the low frequencies, which keeps more of the
/// picture than the means of libjpeg's.
///
/// For a progressive file the coefficients that the smaller picture shows are held until the last
/// scan has been read; for all others only whether they are 0.
public struct ReducedJPEG {
    /// The size of the whole picture, in pixels.
    public let width: Int
    public let height: Int
    /// One for grey, otherwise Y, Cb and Cr.
    public let planes: [PlaneSize]

    private let bytes: UnsafeRawBufferPointer
    private let header: JPEGHeader
    private let layout: PlaneLayout
    private let content: Content

    private enum Content {
        case baseline(ScanHeader)
        case progressive(ProgressiveScans)
    }

    /// Reads the header, or those of all scans. The bytes are those of the whole file and have to stay where they
    /// are until the last use of this value.
    ///
    /// - Parameter enlargesChroma: Whether the chroma of 4:2:0 is made as large as the luma, which its blocks allow.
    public init(
        _ bytes: UnsafeRawBufferPointer, reducedTo reduction: JPEGReduction,
        enlargesChroma: Bool = true
    ) throws(JPEGRefusal) {
        header = try JPEGHeader(reading: bytes)
        layout = PlaneLayout(
            frame: header.frame, reduction: reduction, enlargesChroma: enlargesChroma)
        // A block takes two bits at least, or one in the first scan of several: nothing is allocated for a picture
        // that cannot be there.
        let blocks = layout.unitsPerRow * layout.unitRows * layout.blocksPerUnit
        let mostBlocksPerByte = header.frame.isProgressive ? 8 : 4
        guard (bytes.count - header.scanStart) * mostBlocksPerByte >= blocks else {
            throw .truncated
        }
        if header.frame.isProgressive {
            content = .progressive(try ProgressiveScans(of: bytes, header))
        } else {
            let scan = try ScanHeader(header.scan, frame: header.frame)
            try scan.checkTellsAll(of: header.frame)
            content = .baseline(scan)
        }
        self.bytes = bytes
        width = header.frame.width
        height = header.frame.height
        planes = layout.planes.map(\.size)
    }

    /// Decodes the picture and delivers it from the top, strip by strip.
    ///
    /// For a baseline file this takes memory for one row of units, 20 kB for bytes, and up to 90 kB
    /// for tables, which are kept for the next file; for a progressive file also 10 to 136 bytes
    /// for each block of a plane that is not made of means alone, and 2 for one that is. Throws
    /// `JPEGRefusal` when the file turns out to be inconsistent: discard the strips delivered so
    /// far. Errors that `deliver` throws end the decoding and are passed on.
    public func decode(_ deliver: (JPEGStrip) throws -> Void) throws {
        switch content {
        case .baseline(let scan): try decode(scan, deliver)
        case .progressive(let scans): try decode(scans, deliver)
        }
    }

    private func decode(
        _ scanHeader: ScanHeader, _ deliver: (JPEGStrip) throws -> Void
    ) throws {
        let planes = try PlaneDecoders(layout: layout, header: header, scan: scanHeader)
        var scan = ScanBytes(bytes, from: header.scanStart)
        var reader = BitReader(scan.start)
        var restarts = Restarts(interval: header.tables.restartInterval)
        for row in 0..<layout.unitRows {
            try JPEGRefusal.checkTime()
            try planes.decodeRow(
                unitsPerRow: layout.unitsPerRow, scan: &scan, reader: &reader,
                restarts: &restarts)
            try deliver(JPEGStrip(index: row, planes: planes.memory.planes))
        }
        try scan.finish(&reader)
    }

    private func decode(
        _ scans: ProgressiveScans, _ deliver: (JPEGStrip) throws -> Void
    ) throws {
        let memory = PlaneMemory(layout: layout, quantisation: scans.quantisation)
        let blocks = memory.planes.indices.map {
            CoefficientBlocks(memory.planes[$0], of: $0, in: layout)
        }
        for scan in scans.needed(for: blocks.map(\.mask)) {
            if scan.isOfMeans {
                try MeanScan(scan, layout: layout, blocks: blocks).decode(bytes)
            } else {
                try BandScan(scan, blocks: blocks[scan.header.members[0].component]).decode(bytes)
            }
        }
        for row in 0..<layout.unitRows {
            try JPEGRefusal.checkTime()
            for blocks in blocks { try blocks.writeSamples(ofUnits: row) }
            try deliver(JPEGStrip(index: row, planes: memory.planes))
        }
    }
}

/// The rows that one row of a JPEG file's units makes, in each plane. Valid only during the call
/// that receives it.
public struct JPEGStrip {
    /// From 0, top to bottom.
    public let index: Int
    let planes: [BlockPlane]

    /// Calls `body` with the samples of each row of a plane, counted within the strip: plane 0 is Y, 1 is Cb, 2 is
    /// Cr. In the last strip there may be none.
    public func forEachRow(
        ofPlane index: Int, _ body: (_ row: Int, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let plane = planes[index]
        let (perStrip, height) = (plane.size.rowsPerStrip, plane.size.height)
        for row in 0..<max(0, min(perStrip, height - self.index * perStrip)) {
            let samples = plane.strip + row * plane.bytesPerRow
            body(row, UnsafeBufferPointer(start: samples, count: plane.size.width))
        }
    }
}

/// The reason for refusing a file. Another decoder may well read it.
public enum JPEGRefusal: Error, Hashable, Sendable {
    /// It does not start like a JPEG file.
    case notJPEG
    /// Lossless, hierarchical or arithmetic coding.
    case process
    /// Samples of another depth than 8 bits.
    case precision
    /// Neither grey nor three components.
    case components
    /// Factors of sampling other than 1 or 2 for Y and 1 for Cb and Cr.
    case sampling
    /// Three components that are not certainly Y, Cb and Cr.
    case colour
    /// Markers for restarting are not where the header says.
    case restartMarkers
    /// More than one scan in a baseline file, or one that does not hold everything; in a progressive file, scans that
    /// do not continue one another or leave out what matters.
    case scans
    /// The height is told after the scan.
    case height
    /// A table of quantisation is missing or has 16 bits.
    case quantisation
    /// A Huffman table is missing or invalid.
    case huffman
    /// A segment contradicts its length or comes where it should not.
    case segment
    /// The end of the bytes, or a marker, comes before the end of the picture.
    case truncated
    /// There are codes that no table has, or values that no picture has.
    case damaged
    /// Something follows the picture that is not the end of the file's image.
    case trailing
    /// The thread's deadline has passed, or it was stopped (`CDecoding.h`); other decoders would
    /// stop too.
    case late

    /// Throws when time is up. Called once for each row of blocks.
    static func checkTime() throws(JPEGRefusal) {
        if cdecoding_is_late() { throw .late }
    }
}
