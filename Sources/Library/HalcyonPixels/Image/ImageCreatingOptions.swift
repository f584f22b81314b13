public import Foundation

/// Options for making an image from a file. Equal options and bytes make equal pixels.
public struct ImageCreatingOptions: Hashable, Sendable {
    /// Pixels per point. 1 by default.
    public var scale: CGFloat
    /// Seconds that one run of a preloaded animation takes; 0 means what the file says.
    public var duration: TimeInterval
    /// Whether all frames of an animation are decoded at once, instead of when they are asked for.
    public var preloadAll: Bool
    /// Whether only the first frame of an animation is used, as a still image; of animated PNG the picture
    /// that the file has for that.
    public var onlyFirstFrame: Bool
    /// The limits of decoding.
    public var limits: DecodingLimits
    package var coding = DirectCoding.current

    public init(
        scale: CGFloat = 1, duration: TimeInterval = 0, preloadAll: Bool = false,
        onlyFirstFrame: Bool = false, limits: DecodingLimits = .default
    ) {
        self.scale = scale
        self.duration = duration
        self.preloadAll = preloadAll
        self.onlyFirstFrame = onlyFirstFrame
        self.limits = limits
    }

    /// These options but for the limits, which decide whether there is an image, and never what it looks
    /// like.
    package var withoutLimits: ImageCreatingOptions {
        var options = self
        options.limits = .default
        return options
    }
}
