public import Foundation
import HalcyonWork

/// A picture: still or animated, upright, in sRGB.
///
/// It never changes and may be used from any thread. An
/// image made from a file, or by a processor, holds a description of its pixels at first; they are
/// decoded and processed, in one pass, when first needed, and then kept. What the manager, the
/// downloader and the cache deliver is always rendered already.
///
/// ```swift
/// let photo = try Image.decoding(bytes)
/// let square = photo.kf.crop(
///     to: CGSize(width: 48, height: 48), anchorOn: CGPoint(x: 0.5, y: 0.5))
/// print(photo.pixelSize, "cut to", square.pixelSize)
/// let jpeg = try square.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.8))
/// ```
public final class Image: Sendable {
    let content: PixelContent
    /// Pixels per point.
    public let scale: CGFloat
    /// For a GIF or an animated file (even if only its first frame is used): its bytes.
    package let animatedSource: AnimatedSource?
    /// The options with which this image was made from a file; the defaults for other images.
    package let creatingOptions: ImageCreatingOptions
    /// Whether it was made of the first frame of an animation, whose other frames were left out.
    package let isFirstFrame: Bool

    package struct AnimatedSource: Sendable {
        /// The file's bytes; `nil` for frames from another source that has none.
        package let data: Data?
        package let format: ImageFormat
        package let frameCount: Int
        /// The animation, when it is not the image's own pixels.
        var playback: PixelContent?
    }

    init(
        content: PixelContent, scale: CGFloat = 1, animatedSource: AnimatedSource? = nil,
        creatingOptions: ImageCreatingOptions = ImageCreatingOptions(), isFirstFrame: Bool = false
    ) {
        self.content = content
        self.scale = scale
        self.animatedSource = animatedSource
        self.creatingOptions = creatingOptions
        self.isFirstFrame = isFirstFrame
    }

    /// An image of pixels in memory.
    public convenience init(bitmap: Bitmap, scale: CGFloat = 1) {
        self.init(content: PixelContent(Recipe(frames: [bitmap])), scale: scale)
    }

    /// An animation of frames in memory; `nil` unless there is a duration for each frame and all
    /// have the same size, channels and depth.
    public convenience init?(frames: [Bitmap], timing: AnimationTiming, scale: CGFloat = 1) {
        guard let first = frames.first, frames.count == timing.durations.count,
            frames.allSatisfy({
                $0.size == first.size && $0.channels == first.channels && $0.depth == first.depth
            })
        else { return nil }
        self.init(content: PixelContent(Recipe(frames: frames), timing: timing), scale: scale)
    }

    /// The image in a file's bytes; `nil` when they are not an image.
    ///
    /// Reads only the header; a file that is damaged further on fails when it is rendered.
    public convenience init?(data: Data, scale: CGFloat = 1) {
        // The initialiser's contract is that of `UIImage`: no image, no reason. Those who want the
        // reason call `Image.decoding`.
        guard
            let other = try? Image.decoding(data, options: ImageCreatingOptions(scale: scale))
        else { return nil }
        self.init(
            content: other.content, scale: other.scale, animatedSource: other.animatedSource,
            creatingOptions: other.creatingOptions, isFirstFrame: other.isFirstFrame)
    }

    /// The image in a file's bytes.
    ///
    /// Reads only the header, unless `preloadAll` asks for all frames of an animation.
    /// - Throws: `ImageCodingError`.
    public static func decoding(
        _ data: Data, options: ImageCreatingOptions = ImageCreatingOptions()
    ) throws -> Image {
        try decoding(data, options: options, forPixels: false)
    }

    /// The image in a file's bytes, with its pixels (of an animation: those of its first frame) in memory.
    ///
    /// Does what ``decoding(_:options:)`` and ``bitmap(frame:)`` do one after the other, with one request to a worker
    /// in place of two where the picture is not large.
    /// - Throws: `ImageCodingError`.
    public static func rendering(
        _ data: Data, options: ImageCreatingOptions = ImageCreatingOptions()
    ) throws -> Image {
        let image = try decoding(data, options: options, forPixels: true)
        _ = try image.bitmap()
        return image
    }

    /// - Parameter forPixels: Whether the pixels of the first frame are wanted in any case, in full size.
    package static func decoding(
        _ data: Data, options: ImageCreatingOptions, forPixels: Bool
    ) throws -> Image {
        let encoded = try EncodedImage(
            data, limits: options.limits, coding: options.coding, forPixels: forPixels)
        let header = encoded.header
        var timing = options.onlyFirstFrame ? nil : header.timing
        if let fileTiming = timing, options.preloadAll, options.duration > 0 {
            timing = fileTiming.stretched(to: options.duration)
        }
        let shown = options.onlyFirstFrame ? try encoded.still() : encoded
        let content = PixelContent(Recipe(encoded: shown), timing: timing)
        if options.preloadAll, timing != nil {
            _ = try content.allBitmaps()
        }
        return Image(
            content: content, scale: options.scale,
            animatedSource: header.timing != nil || header.format == .GIF
                ? AnimatedSource(data: data, format: header.format, frameCount: header.frameCount)
                : nil,
            creatingOptions: options, isFirstFrame: options.onlyFirstFrame && header.timing != nil)
    }

    /// Width and height in pixels.
    public var pixelSize: PixelSize { content.size }
    /// Width and height in points: pixels divided by `scale`.
    public var size: CGSize { content.size.points(scale: scale) }
    /// The number of elements in a drawing that is not drawn yet; `nil` for pixels.
    package var elementCount: Int? {
        guard case .encoded(let encoded) = content.currentRecipe.start else { return nil }
        return encoded.drawing?.elementCount
    }
    package var isAsDecoded: Bool { content.isAsDecoded }
    /// Whether there is an alpha channel.
    public var hasAlpha: Bool { content.hasAlpha }
    /// Bits per sample.
    public var depth: Bitmap.Depth { content.depth }
    /// The frames' times, when this is an animation.
    public var animation: AnimationTiming? { content.timing }
    /// Frames of this image; 1 for a still one.
    public var frameCount: Int { content.frameCount }
    /// Whether the pixels (of an animation: of its first frame) are in memory.
    public var isRendered: Bool { content.isRendered }

    /// The pixels of a frame.
    ///
    /// Renders an image that is not rendered yet, on the calling thread: up to a second for a large
    /// photograph. In `async` code use `rendered()` first. Frames of an animation after the first
    /// are decoded at each call unless all were preloaded.
    /// - Throws: `ImageCodingError` for a damaged file or a step that failed.
    public func bitmap(frame index: Int = 0) throws -> Bitmap {
        try content.bitmap(frame: index)
    }

    /// The pixels of all frames, in order; they stay in memory as long as this image.
    public func allBitmaps() throws -> [Bitmap] {
        try content.allBitmaps()
    }

    /// This image with its pixels in memory, rendered on the decoding pool if they are not yet.
    public func rendered() async throws -> Image {
        if content.isRendered { return self }
        try await DecodingPool.shared.run { _ = try self.content.bitmap() }
        return self
    }

    func applying(_ operation: ImageOperation) -> Image {
        Image(
            content: content.applying(operation), scale: scale, creatingOptions: creatingOptions,
            isFirstFrame: isFirstFrame)
    }

    package func withScale(_ scale: CGFloat) -> Image {
        if scale == self.scale { return self }
        var options = creatingOptions
        options.scale = scale
        return Image(
            content: content, scale: scale, animatedSource: animatedSource,
            creatingOptions: options, isFirstFrame: isFirstFrame)
    }

    /// The first frame of an animation, whose pixels are in memory, as a still image; a still image itself.
    /// - Throws: `ImageCodingError`.
    package func firstFrame() throws -> Image {
        if frameCount == 1 { return self }
        var options = creatingOptions
        options.onlyFirstFrame = true
        return Image(
            content: PixelContent(Recipe(frames: [try bitmap()])), scale: scale,
            animatedSource: animatedSource, creatingOptions: options, isFirstFrame: true)
    }

    /// This image as one that is known to be made for `options`: a processor that makes an image of pixels
    /// loses what it was made of.
    ///
    /// - Parameter isStill: Whether it is known that it was made of no animation.
    package func made(
        for options: ImageCreatingOptions, ofStill isStill: @autoclosure () -> Bool = false
    ) -> Image {
        let isLost = options.onlyFirstFrame && !creatingOptions.onlyFirstFrame && !isStill()
        if creatingOptions.scale == options.scale, !isLost { return self }
        var known = creatingOptions
        known.scale = options.scale
        return Image(
            content: content, scale: scale, animatedSource: animatedSource,
            creatingOptions: known, isFirstFrame: isFirstFrame || isLost && frameCount == 1)
    }
}

extension Image {
    /// Bytes this image keeps in memory once rendered: the pixels of its resident frames, and the
    /// file's bytes of an animation.
    package var byteCount: Int {
        content.bytesPerFrame * content.residentFrameCount + (animatedSource?.data?.count ?? 0)
    }
}
