/// What is refused before any pixel is decoded.
public struct DecodingLimits: Hashable, Sendable {
    /// The most pixels one frame may have; `nil` for no limit. 150 million by default: above the
    /// largest camera photographs, below what needs 600 MB.
    public var maximumPixelCount: Int?
    /// Whether PDF (its first page) is read. Off by default: PDF readers have a large attack surface.
    public var allowsPDF: Bool

    public init(maximumPixelCount: Int? = 150_000_000, allowsPDF: Bool = false) {
        self.maximumPixelCount = maximumPixelCount
        self.allowsPDF = allowsPDF
    }

    public static let `default` = DecodingLimits()
}
