/// What is known of an encoded image before its pixels are decoded.
struct ImageHeader: Hashable, Sendable {
    var format: ImageFormat
    /// The size after EXIF orientation is applied, of one frame.
    var size: PixelSize
    /// The size of what is decoded of a frame, where the file shows only a part of it.
    var storedSize: PixelSize?
    var hasAlpha: Bool
    var depth: Bitmap.Depth = .eight
    /// Frames in the file; 1 for still images.
    var frameCount = 1
    /// For animated files the frames' (clamped) durations and the loop count.
    var timing: AnimationTiming?
}
