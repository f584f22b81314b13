import Halcyon

enum TransitionLook: Hashable, Sendable {
    /// The new content at once; only the pose moves.
    case plain
    /// The new content fades in over the old one.
    case crossDissolve
    /// The view turns over: the old content on its front, the new one on its back.
    case flip(FlipEdge)

    init(_ options: ImageTransition.AnimationOptions) {
        let flips: [(ImageTransition.AnimationOptions, FlipEdge)] = [
            (.transitionFlipFromLeft, .left), (.transitionFlipFromRight, .right),
            (.transitionFlipFromTop, .top), (.transitionFlipFromBottom, .bottom),
        ]
        if let flip = flips.first(where: { options.contains($0.0) }) {
            self = .flip(flip.1)
        } else {
            self = options.contains(.transitionCrossDissolve) ? .crossDissolve : .plain
        }
    }
}

/// The edge that comes to the front when a view begins to turn over.
enum FlipEdge: Hashable, Sendable, CaseIterable {
    case left
    case right
    case top
    case bottom
}
