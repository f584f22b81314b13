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
