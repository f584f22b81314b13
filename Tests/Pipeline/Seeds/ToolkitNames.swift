import Foundation

@testable import Halcyon

/// What the articles' code calls that belongs to the toolkit's image class, under the same names.
extension Image {
    /// An image of one transparent pixel.
    convenience init() {
        self.init(
            bitmap: Bitmap(pixels: Data(count: 4), size: PixelSize(width: 1, height: 1))!)
    }

    func pngData() -> Data? { kf.pngRepresentation() }

    func jpegData(compressionQuality: CGFloat) -> Data? {
        kf.jpegRepresentation(compressionQuality: compressionQuality)
    }
}
