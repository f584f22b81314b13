import Foundation
import HalcyonTestKit

@testable import Halcyon
@testable import HalcyonGTK

/// An image of exactly these pixels, in memory already.
func image(_ grid: PixelGrid, scale: CGFloat = 1) -> Image {
    Image(bitmap: bitmap(grid), scale: scale)
}

func bitmap(_ grid: PixelGrid) -> Bitmap {
    let bytes = grid.pixels.flatMap { [$0.red, $0.green, $0.blue, $0.alpha] }
    return Bitmap(pixels: Data(bytes), size: PixelSize(width: grid.width, height: grid.height))!
}

/// An image of the same pixels as a file that is not decoded yet.
func pendingImage(_ grid: PixelGrid) -> Image { Image(data: PNGFixture.data(grid))! }

/// A view that shows an image all over its place, by the clock of its window or by another one.
@MainActor func stretched(
    _ image: Image? = nil, ticker: (any FrameTicker)? = nil
) -> ImageView {
    let view = ImageView(image: image)
    view.contentMode = .stretch
    if let ticker { view.frameTicker = ticker }
    return view
}

/// A view that fills its place with one colour.
@MainActor func square(_ pixel: Pixel) -> ImageView {
    stretched(image(.solid(pixel, width: 4, height: 4)))
}

extension Bitmap {
    /// The pixel at column `x` of row `y`.
    func pixel(_ x: Int, _ y: Int) -> Pixel {
        let color = self[x, y]
        func byte(_ component: CGFloat) -> UInt8 { UInt8((component * 255).rounded()) }
        return Pixel(byte(color.red), byte(color.green), byte(color.blue), byte(color.alpha))
    }
}
