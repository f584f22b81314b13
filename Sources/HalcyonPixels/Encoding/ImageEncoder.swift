import Foundation

/// Writes one or more formats. Calls block and belong on the decoding pool.
protocol ImageEncoder: Sendable {
    /// Whether this encoder writes `format` on this machine.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Writes one frame, or with `timing` an animation of all `frames` (of one size).
    func encode(
        _ frames: [Bitmap], timing: AnimationTiming?, as format: ImageFormat,
        options: ImageEncodingOptions
    ) throws -> Data
}
