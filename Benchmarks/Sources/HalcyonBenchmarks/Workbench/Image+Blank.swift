import Foundation
import Halcyon

extension Image {
    /// A black picture in memory.
    static func blank(width: Int, height: Int) -> Image {
        guard
            let bitmap = Bitmap(
                pixels: Data(count: width * height * 4),
                size: PixelSize(width: width, height: height))
        else { preconditionFailure("a bitmap needs an extent") }
        return Image(bitmap: bitmap)
    }
}

/// A processor that decodes nothing: what is timed is the way of the bytes alone.
struct BlankProcessor: ImageProcessor {
    let identifier = "benchmarks.blank"
    private let image = Image.blank(width: 1, height: 1)

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? { image }
}
