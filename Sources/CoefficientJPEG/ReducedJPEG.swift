/// A JPEG file that can be decoded at a fraction of its size without looking at most of what is in it.
///
/// In a reduced picture almost all time goes into Huffman codes whose values are thrown away. Here a
/// table tells for the next 13 bits how far whole runs of codes reach, and they are stepped over; a
/// value is taken only where the smaller picture shows it.
///
/// Baseline files of one scan are decoded, with one component or with Y, Cb and Cr. Anything else, and
/// whatever is inconsistent, is refused and left to a decoder that can say more about it: nothing is
/// guessed, and what is delivered is complete. At 1/8 the planes equal libjpeg-turbo's; at 1/4 and 1/2
/// they are made of the low frequencies, which keeps more of the picture than the means of libjpeg's.
public struct ReducedJPEG {
    /// Of the whole picture, in pixels.
    public let width: Int
    public let height: Int
    /// One for grey, otherwise Y, Cb and Cr.
    public let planes: [PlaneSize]
    /// How many strips `decode` delivers.
    public let stripCount: Int

    private let bytes: UnsafeRawBufferPointer
    private let header: JPEGHeader
    private let layout: PlaneLayout

    /// Reads the header. The bytes are those of the whole file and have to stay where they are until
    /// the last use of this value.
    public init(_ bytes: UnsafeRawBufferPointer, reducedTo reduction: JPEGReduction)
        throws(JPEGRefusal)
    {
        header = try JPEGHeader(reading: bytes)
        layout = PlaneLayout(frame: header.frame, reduction: reduction)
        // A block takes two bits at least: nothing is allocated for a picture that cannot be there.
        let blocks = layout.unitsPerRow * layout.unitRows * layout.blocksPerUnit
        guard (bytes.count - header.scanStart) * 4 >= blocks else { throw .truncated }
        self.bytes = bytes
        width = header.frame.width
        height = header.frame.height
        planes = layout.planes.map(\.size)
        stripCount = layout.unitRows
    }

    /// Decodes the picture and delivers it from the top, strip by strip.
    ///
    /// Takes memory for one row of units, 20 kB for bytes, and up to 90 kB for tables, which are kept
    /// for the next file. Throws `JPEGRefusal` when the file turns out not to be consistent: what has
    /// been delivered by then is to be forgotten. What `deliver` throws ends the work and is passed on.
    public func decode(_ deliver: (JPEGStrip) throws -> Void) throws {
        let planes = try PlaneDecoders(layout: layout, header: header)
        var scan = ScanBytes(bytes, from: header.scanStart)
        var reader = BitReader(scan.start)
        var restarts = Restarts(interval: header.restartInterval)
        for row in 0..<layout.unitRows {
            try planes.decodeRow(
                unitsPerRow: layout.unitsPerRow, scan: &scan, reader: &reader,
                restarts: &restarts)
            try deliver(
                JPEGStrip(index: row, planes: planes.pointer, planeCount: planes.count))
        }
        try scan.finish(&reader)
    }
}

/// The rows that one row of a JPEG file's units makes, in each plane. It is valid only during the call
/// that receives it.
public struct JPEGStrip {
    /// From 0, top to bottom.
    public let index: Int
    let planes: UnsafePointer<PlaneDecoder>
    public let planeCount: Int

    /// The rows of a plane: 0 is Y, 1 is Cb, 2 is Cr.
    public subscript(plane index: Int) -> Rows {
        precondition(index >= 0 && index < planeCount, "a picture has no such plane")
        let plane = planes[index]
        let first = self.index * plane.size.rowsPerStrip
        return Rows(
            samples: UnsafeBufferPointer(
                start: plane.strip, count: plane.size.rowsPerStrip * plane.bytesPerRow),
            bytesPerRow: plane.bytesPerRow,
            width: plane.size.width,
            firstRow: first,
            rowCount: min(plane.size.rowsPerStrip, plane.size.height - first))
    }

    /// Rows of one plane.
    public struct Rows {
        /// All rows, and the padding behind each.
        public let samples: UnsafeBufferPointer<UInt8>
        public let bytesPerRow: Int
        /// Samples in a row without the padding.
        public let width: Int
        /// Where in the plane the first row belongs.
        public let firstRow: Int
        /// May be 0 in the last strip.
        public let rowCount: Int

        /// The samples of a row, counted within the strip.
        public subscript(row: Int) -> UnsafeBufferPointer<UInt8> {
            precondition(row >= 0 && row < rowCount, "a strip has no such row")
            return UnsafeBufferPointer(
                rebasing: samples[row * bytesPerRow..<row * bytesPerRow + width])
        }
    }
}

/// Why a file is not decoded here. Another decoder may well read it.
public enum JPEGRefusal: Error, Hashable, Sendable {
    /// It does not start like a JPEG file.
    case notJPEG
    /// Progressive, lossless, hierarchical or arithmetic coding.
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
    /// More than one scan, or one that does not hold everything.
    case scans
    /// The height is told after the scan.
    case height
    /// A table of quantisation is missing or has 16 bits.
    case quantisation
    /// A Huffman table is missing or makes no sense.
    case huffman
    /// A segment contradicts its length or comes where it should not.
    case segment
    /// The end of the bytes, or a marker, comes before the end of the picture.
    case truncated
    /// There are codes that no table has, or values that no picture has.
    case damaged
    /// Something follows the picture that is not the end of the file's image.
    case trailing
}
