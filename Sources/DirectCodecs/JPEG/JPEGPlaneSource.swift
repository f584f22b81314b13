import CJPEG

/// The samples of one of a JPEG's planes, as a decoder delivers them.
public struct JPEGPlane: Equatable, Sendable {
    /// Samples in a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// The picture's size in samples of this plane: at most `width` and `height`, whose last samples may
    /// be covered only in part.
    public let extentX: Double
    public let extentY: Double
    /// Bytes of a row that are written; behind `width` they mean nothing.
    public let rowCapacity: Int
    /// Rows that are delivered at once.
    public let stripHeight: Int

    public init(
        width: Int, height: Int, extentX: Double, extentY: Double, rowCapacity: Int,
        stripHeight: Int
    ) {
        self.width = width
        self.height = height
        self.extentX = extentX
        self.extentY = extentY
        self.rowCapacity = rowCapacity
        self.stripHeight = stripHeight
    }
}

/// Where the rows of a JPEG's planes come from: decoded at a part of the size, from the top, strip by
/// strip.
///
/// A source is used once, by one thread.
public protocol JPEGPlaneSource: AnyObject {
    /// Luminance; and Cb and Cr, unless the picture is grey. All have the same number of strips.
    var planes: [JPEGPlane] { get }

    /// Decodes the next strip into `rows[plane][row]`, which has room for the plane's `rowCapacity`
    /// bytes: `stripHeight` rows of each plane, also in the last strip, whose surplus rows mean nothing.
    /// - Throws: `DirectCodecError`.
    func readStrip(into rows: JPEGStrip) throws(DirectCodecError)
}

/// For each plane the rows of a strip.
public typealias JPEGStrip =
    UnsafePointer<UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?>
