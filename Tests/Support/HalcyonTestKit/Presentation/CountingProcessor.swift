import Foundation
package import Halcyon
package import HalcyonPixels

/// A processor that counts its runs and gives an image of a known size.
package final class CountingProcessor: ImageProcessor {
    package let identifier: String
    package let runs = Locked(0)
    private let gives: PixelSize?

    package init(
        identifier: String = "test.counting", gives: PixelSize? = PixelSize(width: 3, height: 2)
    ) {
        self.identifier = identifier
        self.gives = gives
    }

    package func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        runs.withLock { $0 += 1 }
        guard let gives else { return nil }
        let pixels = Data(repeating: 200, count: gives.pixelCount * 4)
        return Bitmap(pixels: pixels, size: gives).map { Image(bitmap: $0) }
    }
}
