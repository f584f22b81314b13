public import Foundation

/// The transition of a view to a new image. Durations are in seconds.
public enum ImageTransition: Sendable {
    /// No animation.
    case none
    /// The image fades in.
    case fade(TimeInterval)
    /// The view turns over around its vertical axis, from the left.
    case flipFromLeft(TimeInterval)
    /// The view turns over around its vertical axis, from the right.
    case flipFromRight(TimeInterval)
    /// The view turns over around its horizontal axis, from the top.
    case flipFromTop(TimeInterval)
    /// The view turns over around its horizontal axis, from the bottom.
    case flipFromBottom(TimeInterval)
    /// An animation by `animations`, which must also set the image; without it the image is set.
    /// `completion` receives whether the animation ran to its end.
    case custom(
        duration: TimeInterval, options: AnimationOptions,
        animations:
            (@MainActor @Sendable (any KFCrossPlatformImageView, KFCrossPlatformImage) -> Void)?,
        completion: (@MainActor @Sendable (_ finished: Bool) -> Void)?)
}

extension ImageTransition {
    /// The options of a custom animation.
    public struct AnimationOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Starts slowly. Together with `curveEaseOut`, or without any curve: slow at both ends.
        public static let curveEaseIn = AnimationOptions(rawValue: 1 << 0)
        /// Ends slowly.
        public static let curveEaseOut = AnimationOptions(rawValue: 1 << 1)
        /// Constant speed.
        public static let curveLinear = AnimationOptions(rawValue: 1 << 2)
        /// The new image fades in over the old one.
        public static let transitionCrossDissolve = AnimationOptions(rawValue: 1 << 3)
        /// As `ImageTransition.flipFromLeft`.
        public static let transitionFlipFromLeft = AnimationOptions(rawValue: 1 << 4)
        /// As `ImageTransition.flipFromRight`.
        public static let transitionFlipFromRight = AnimationOptions(rawValue: 1 << 5)
        /// As `ImageTransition.flipFromTop`.
        public static let transitionFlipFromTop = AnimationOptions(rawValue: 1 << 6)
        /// As `ImageTransition.flipFromBottom`.
        public static let transitionFlipFromBottom = AnimationOptions(rawValue: 1 << 7)
    }

    /// The duration, in seconds; 0 for `none`.
    public var duration: TimeInterval {
        switch self {
        case .none: 0
        case .fade(let duration), .flipFromLeft(let duration), .flipFromRight(let duration),
            .flipFromTop(let duration), .flipFromBottom(let duration),
            .custom(let duration, _, _, _):
            duration
        }
    }

    /// The equivalent options of a custom animation.
    public var animationOptions: AnimationOptions {
        switch self {
        case .none: []
        case .fade: .transitionCrossDissolve
        case .flipFromLeft: .transitionFlipFromLeft
        case .flipFromRight: .transitionFlipFromRight
        case .flipFromTop: .transitionFlipFromTop
        case .flipFromBottom: .transitionFlipFromBottom
        case .custom(_, let options, _, _): options
        }
    }

    /// Makes `view` show `image`; to be run inside the animation.
    @MainActor func apply(_ image: KFCrossPlatformImage, to view: any KFCrossPlatformImageView) {
        if case .custom(_, _, let animations?, _) = self {
            animations(view, image)
        } else {
            view.image = image
        }
    }

    @MainActor func ended(finished: Bool) {
        if case .custom(_, _, _, let completion?) = self { completion(finished) }
    }
}

extension KingfisherParsedOptionsInfo {
    func needsTransition(cacheType: CacheType) -> Bool {
        if case .none = self.transition { return false }
        return self.forceTransition || cacheType == .none
    }
}
