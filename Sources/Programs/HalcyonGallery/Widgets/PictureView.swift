import Foundation
import Halcyon
import HalcyonGTK

/// An image view of a fixed size, whatever it shows.
final class PictureView: ImageView {
    init(width: CGFloat, height: CGFloat) {
        super.init()
        fix(CGSize(width: width, height: height))
    }
}

/// An animated image view of a fixed size.
final class AnimatedPictureView: AnimatedImageView {
    init(width: CGFloat, height: CGFloat) {
        super.init()
        fix(CGSize(width: width, height: height))
    }
}

extension ImageView {
    fileprivate func fix(_ size: CGSize) {
        requestedSize = size
        sizesToImage = false
        contentMode = .fill
        cornerRadius = .point(8)
    }
}
