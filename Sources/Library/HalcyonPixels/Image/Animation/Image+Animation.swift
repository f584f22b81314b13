public import Foundation

extension Image {
    /// Seconds that one run takes: the frames' durations together, infinity for a file of an animated
    /// format with a single frame, 0 for other still images.
    public var duration: TimeInterval {
        if let animation { return animation.totalDuration }
        return animatedSource?.frameCount == 1 ? .infinity : 0
    }

    package var playback: PixelContent {
        content.timing == nil ? animatedSource?.playback ?? content : content
    }

    /// An animation of frames that `source` makes.
    ///
    /// Decodes the first frame on the calling thread, unless `base` has it, and all of them to preload.
    /// - Throws: `ImageCodingError` when a frame that is needed now cannot be had.
    package static func animated(
        _ source: any ImageFrameSource, options: ImageCreatingOptions, base: Image?
    ) throws -> Image {
        let count = source.frameCount
        guard count > 0 else {
            throw ImageCodingError.processing(reason: "the frame source has no frames")
        }
        let first = try base?.bitmap() ?? source.bitmap(at: 0)
        let data = source.data
        let description = AnimatedSource(
            data: data, format: data.map { ImageSniffer.format(of: $0) } ?? .unknown,
            frameCount: count)
        if options.onlyFirstFrame || count == 1 {
            return Image(
                content: PixelContent(Recipe(frames: [first])), scale: options.scale,
                animatedSource: description, creatingOptions: options, isFirstFrame: count > 1)
        }
        let timing = AnimationTiming(
            durations: (0..<count).map { AnimationTiming.known(source.duration(at: $0)) },
            loopCount: 0)
        let uniform = UniformFrameSource(source, like: first)
        let content: PixelContent
        if options.preloadAll {
            let rest = try (1..<count).map { try uniform.bitmap(at: $0) }
            content = PixelContent(
                Recipe(frames: [first] + rest),
                timing: options.duration > 0 ? timing.stretched(to: options.duration) : timing)
        } else {
            content = PixelContent(
                Recipe(source: uniform, first: first), timing: timing, first: first)
        }
        return Image(
            content: content, scale: options.scale, animatedSource: description,
            creatingOptions: options)
    }
}

extension Image {
    /// The frames of an animated file or of a foreign source, decoded when asked for, with the image's
    /// steps applied; a new one at each call. `nil` for what is no animation, and when the pixels of all
    /// frames are in memory.
    package func makeFrameSource() -> (any ImageFrameSource)? {
        guard let source = animatedSource, !creatingOptions.onlyFirstFrame else {
            return content.timing == nil || content.isFullyResident
                ? nil : DecodingFrameSource(content, data: nil)
        }
        let content = playback
        if content.timing != nil, content.isFullyResident { return nil }
        return DecodingFrameSource(content, data: source.data)
    }

    /// The pixels of this image with what `other` was made of: the animated file's bytes, the frame count,
    /// the frame source and the creating options.
    package func withSource(of other: Image) -> Image {
        var source = other.animatedSource
        if source == nil, other.content.timing != nil {
            source = AnimatedSource(data: nil, format: .unknown, frameCount: other.frameCount)
        }
        if other.playback.timing != nil { source?.playback = other.playback }
        return Image(
            content: content, scale: scale, animatedSource: source,
            creatingOptions: other.creatingOptions, isFirstFrame: other.isFirstFrame)
    }
}

/// A source whose frames all look like the first one; those that do not are left out.
///
/// Images take size, channels and depth as the same for all frames, which a foreign source need not
/// keep to.
struct UniformFrameSource: ImageFrameSource {
    private var source: any ImageFrameSource
    private let size: PixelSize
    private let channels: Int
    private let depth: Bitmap.Depth

    init(_ source: any ImageFrameSource, like first: Bitmap) {
        self.source = source
        size = first.size
        channels = first.channels
        depth = first.depth
    }

    var data: Data? { source.data }
    var frameCount: Int { source.frameCount }

    func duration(at index: Int) -> TimeInterval { source.duration(at: index) }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard let frame = source.frame(at: index, maxSize: maxSize), frame.channels == channels,
            frame.depth == depth
        else { return nil }
        let isReduced =
            maxSize != nil && frame.size.width <= size.width && frame.size.height <= size.height
        return frame.size == size || isReduced ? frame : nil
    }

    func copy() -> UniformFrameSource {
        var copy = self
        copy.source = source.copy()
        return copy
    }
}
