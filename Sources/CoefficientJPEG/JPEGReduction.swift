/// By how much a picture is made smaller while it is decoded.
public enum JPEGReduction: Int, Sendable, CaseIterable {
    case half = 2
    case quarter = 4
    case eighth = 8

    /// Samples along a side of what becomes of a block of 8 × 8.
    var side: Int { 8 / rawValue }
}
