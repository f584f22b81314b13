import Foundation
import Halcyon
import HalcyonGTK

/// An image view of a fixed size, whatever it shows.
final class PictureView: ImageView {
    private let extent: CGSize

    init(width: CGFloat, height: CGFloat) {
        extent = CGSize(width: width, height: height)
        super.init()
        contentMode = .fill
        cornerRadius = .point(8)
    }

    override var heightDependsOnWidth: Bool { false }

    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        extent.length(in: direction)
    }
}

/// An animated image view of a fixed size.
final class AnimatedPictureView: AnimatedImageView {
    private let extent: CGSize

    init(width: CGFloat, height: CGFloat) {
        extent = CGSize(width: width, height: height)
        super.init()
        contentMode = .fill
        cornerRadius = .point(8)
    }

    override var heightDependsOnWidth: Bool { false }

    override func measure(
        _ direction: Direction, other: CGFloat?
    ) -> (minimum: CGFloat, natural: CGFloat) {
        extent.length(in: direction)
    }
}

extension CGSize {
    /// The minimum and the preferred length of a view of this size.
    @MainActor fileprivate func length(
        in direction: Canvas.Direction
    ) -> (minimum: CGFloat, natural: CGFloat) {
        let length = direction == .horizontal ? width : height
        return (length, length)
    }
}
