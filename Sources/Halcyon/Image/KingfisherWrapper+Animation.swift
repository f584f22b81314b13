extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The frames of an animated file or of a foreign source, decoded when asked for, with the image's
    /// steps applied; a new one at each call.
    ///
    /// `nil` for still images of other formats than GIF, for an animation reduced to its first frame,
    /// and when the pixels of all frames are in memory: then `allBitmaps()` has them.
    public var frameSource: (any ImageFrameSource)? { base.makeFrameSource() }

    /// A copy of `target` that also knows what this image was made of: the animated file's bytes, the
    /// frame count, the frame source and the creating options.
    ///
    /// Images never change, so the copy is returned and `target` stays as it is. Its pixels are those
    /// of `target`; when that is a still image and this one an animation, the copy is played with the
    /// frames of this one.
    public func copyKingfisherState(to target: KFCrossPlatformImage) -> KFCrossPlatformImage {
        target.withSource(of: base)
    }

    /// An animation of frames that `source` makes; `nil` when a frame that is needed now is missing.
    ///
    /// Frames are asked for when they are shown, unless `options` ask for preloading or the first frame
    /// only. Decodes on the calling thread. `baseImage` is the first frame, if it is at hand already;
    /// then it is not decoded.
    public static func animatedImage(
        source: any ImageFrameSource, options: ImageCreatingOptions,
        baseImage: KFCrossPlatformImage? = nil
    ) -> KFCrossPlatformImage? {
        // The contract is that of Kingfisher: no image, no reason.
        try? Image.animated(source, options: options, base: baseImage)
    }
}
