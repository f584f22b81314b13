public import Foundation

extension KFImage {
    /// How a transition runs.
    public struct Animation: Hashable, Sendable {
        private let curve: ImageTransition.AnimationOptions?
        private let duration: TimeInterval?

        /// As the transition says by itself.
        public static let `default` = Animation(curve: nil, duration: nil)

        /// Keeps its speed.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func linear(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveLinear, duration: duration)
        }

        /// Starts slowly.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func easeIn(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveEaseIn, duration: duration)
        }

        /// Ends slowly.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func easeOut(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: .curveEaseOut, duration: duration)
        }

        /// Starts and ends slowly.
        ///
        /// - Parameter duration: In seconds, in place of the transition's own.
        public static func easeInOut(duration: TimeInterval? = nil) -> Animation {
            Animation(curve: [.curveEaseIn, .curveEaseOut], duration: duration)
        }

        /// `transition`, running as this animation does.
        func applied(to transition: ImageTransition) -> ImageTransition {
            guard curve != nil || duration != nil else { return transition }
            var options = transition.animationOptions
            if let curve {
                options.subtract([.curveEaseIn, .curveEaseOut, .curveLinear])
                options.formUnion(curve)
            }
            let duration = duration ?? transition.duration
            return switch transition {
            case .none: .none
            case .custom(_, _, let animations, let completion):
                .custom(
                    duration: duration, options: options, animations: animations,
                    completion: completion)
            case .fade, .flipFromLeft, .flipFromRight, .flipFromTop, .flipFromBottom:
                .custom(duration: duration, options: options, animations: nil, completion: nil)
            }
        }
    }
}
