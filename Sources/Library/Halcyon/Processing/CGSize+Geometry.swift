public import Foundation

extension CGSize: KingfisherCompatibleValue {}

extension KingfisherWrapper where Base == CGSize {
    /// This size brought to `size` in the given way.
    public func resize(to size: CGSize, for contentMode: ContentMode) -> CGSize {
        contentMode.size(of: base, in: size)
    }

    /// The largest size of these proportions inside `size`, its derived side a whole number.
    public func constrained(_ size: CGSize) -> CGSize {
        ContentMode.aspectFit.size(of: base, in: size)
    }

    /// The smallest size of these proportions that covers `size`, its derived side a whole number.
    public func filling(_ size: CGSize) -> CGSize {
        ContentMode.aspectFill.size(of: base, in: size)
    }

    /// Where a rectangle of `size` lies in one of this size, cut to what is inside.
    ///
    /// `anchor` is the point that both rectangles have in common, as fractions of their sides from the
    /// top left; clamped to 0…1. What is not a number counts as 0, and infinity as a very large number.
    public func constrainedRect(for size: CGSize, anchor: CGPoint) -> CGRect {
        // Foundation's intersection stops the program at a number that is none.
        let (base, size) = (base.bounded, size.bounded)
        let x = min(max(anchor.x.bounded, 0), 1) * (base.width - size.width)
        let y = min(max(anchor.y.bounded, 0), 1) * (base.height - size.height)
        return CGRect(origin: .zero, size: base)
            .intersection(CGRect(x: x, y: y, width: size.width, height: size.height))
    }
}

extension CGSize {
    /// A size that can be computed with; see `CGFloat.bounded`.
    fileprivate var bounded: CGSize { CGSize(width: width.bounded, height: height.bounded) }
}

extension CGFloat {
    /// A number that can be computed with: 0 for what is not a number, at most 10¹⁵ either way.
    fileprivate var bounded: CGFloat {
        isNaN ? 0 : Swift.min(Swift.max(-1e15, self), 1e15)
    }

    /// A length in points as whole pixels, at most 10 million either way; 0 for what is not a number.
    func pixels(scale: CGFloat) -> Int {
        let length = (self * scale).rounded()
        return length.isNaN ? 0 : Int(Swift.min(Swift.max(-10_000_000, length), 10_000_000))
    }
}
