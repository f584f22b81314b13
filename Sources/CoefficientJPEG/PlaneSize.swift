/// The measures of one plane of a reduced picture: the same that libjpeg delivers as raw data.
///
/// The chroma of 4:2:0 has the size of the luma, since its blocks are reduced less; other chroma is
/// smaller than the luma by its factors of sampling.
public struct PlaneSize: Hashable, Sendable {
    public let width: Int
    public let height: Int
    /// The picture's size in samples of this plane: the last samples may be covered only in part.
    public let extentX: Double
    public let extentY: Double
    /// Rows in each strip but the last, which may have fewer.
    public let rowsPerStrip: Int
}
