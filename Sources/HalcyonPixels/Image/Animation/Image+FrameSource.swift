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
            creatingOptions: other.creatingOptions)
    }
}
