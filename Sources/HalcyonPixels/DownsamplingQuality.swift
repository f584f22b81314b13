/// How much of a picture's fineness is kept when a file is decoded at a smaller size.
public enum DownsamplingQuality: String, Hashable, Sendable, CaseIterable {
    /// Decodes at least at twice the size, where the file has so much, and resamples the rest with
    /// Lanczos: what Lanczos makes of all pixels, but for differences that cannot be seen.
    case best
    /// Decodes at the smallest size that is not below the one asked for: up to half the time of `best`,
    /// and a little softer. Makes a difference for JPEG.
    case fast
}
