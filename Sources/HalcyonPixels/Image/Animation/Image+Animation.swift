public import Foundation

extension Image {
    /// Seconds that one run takes: the frames' durations together, infinity for a file of an animated
    /// format with a single frame, 0 for other still images.
    public var duration: TimeInterval {
        if let animation { return animation.totalDuration }
        return animatedSource?.frameCount == 1 ? .infinity : 0
    }

    /// What plays when this image is played.
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
                animatedSource: description, creatingOptions: options)
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

extension AnimationTiming {
    /// The duration of a frame that a source tells; 100 ms if it is none that can be waited for.
    fileprivate static func known(_ duration: TimeInterval) -> TimeInterval {
        duration.isFinite && duration > 0 ? duration : 0.1
    }
}
