/// A size to decode at, and how well.
struct Reduction: Hashable, Sendable {
    /// The size of the result, as shown.
    let size: PixelSize
    let quality: DownsamplingQuality
}
