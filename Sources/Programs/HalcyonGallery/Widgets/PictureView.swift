import Foundation
import Halcyon
import HalcyonGTK

/// An image view of a fixed size, whatever it shows.
final class PictureView: ImageView {
    init(width: CGFloat, height: CGFloat) {
        super.init()
        fix(CGSize(width: width, height: height))
    }

    /// A patch of one colour.
    convenience init(_ color: Color, width: CGFloat, height: CGFloat) {
        self.init(width: width, height: height)
        let components = [color.red, color.green, color.blue]
        let samples = components.map { UInt8((min(max($0, 0), 1) * 255).rounded()) }
        let pixel = Bitmap(
            pixels: Data(samples), size: PixelSize(width: 1, height: 1), channels: 3)
        image = pixel.map { Image(bitmap: $0) }
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
