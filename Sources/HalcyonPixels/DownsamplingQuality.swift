/// How much detail is kept when a file is decoded at a smaller size.
public enum DownsamplingQuality: String, Hashable, Sendable, CaseIterable {
    /// Decodes at least at twice the size, where the file has so much, and resamples the rest with
    /// Lanczos: the result differs invisibly from resampling all pixels with Lanczos.
    case best
    /// Decodes at the smallest size that is not below the one asked for: up to half the time of `best`,
    /// and a little softer. Makes a difference for JPEG.
    case fast
}
