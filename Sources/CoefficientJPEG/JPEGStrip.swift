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
