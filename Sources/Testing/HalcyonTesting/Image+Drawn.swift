import Foundation
public import Halcyon

extension Image {
    /// A picture whose pixel at (x, y), counted from the top left corner, has the colour that `color` gives.
    ///
    /// Components are rounded to 8 bits. Both sides must be positive: that is an error of the test, and
    /// traps.
    public static func drawn(
        width: Int, height: Int, _ color: (_ x: Int, _ y: Int) -> Color
    ) -> Image {
        precondition(width > 0 && height > 0, "a picture has at least one pixel")
        var pixels = Data(capacity: width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let color = color(x, y)
                for component in [color.red, color.green, color.blue, color.alpha] {
                    pixels.append(UInt8((min(max(component, 0), 1) * 255).rounded()))
                }
            }
        }
        let size = PixelSize(width: width, height: height)
        guard let bitmap = Bitmap(pixels: pixels, size: size) else {
            preconditionFailure("the pixels fill the size")
        }
        return Image(bitmap: bitmap)
    }

    /// A picture of one colour.
    public static func solid(_ color: Color, width: Int, height: Int) -> Image {
        drawn(width: width, height: height) { _, _ in color }
    }
}
