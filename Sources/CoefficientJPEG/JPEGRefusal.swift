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
