import Foundation
import HalcyonTestKit

@testable import Halcyon

/// Pictures given by formulas, of which hashes made by other programs are known.
enum HashPicture {
    /// A gradient in two colours.
    static let gradient = bitmap(32, 32) { x, y in [8 * x, 8 * y, 128, 255] }
    /// A landscape with a fine pattern.
    static let pattern = bitmap(64, 32) { x, y in [4 * x, 255 - 8 * y, (x ^ y) & 255, 255] }
    /// The gradient, fading to the right.
    static let fading = bitmap(32, 32) { x, y in [8 * x, 8 * y, 128, 255 - 4 * x] }
    /// One colour.
    static let plain = bitmap(8, 8) { _, _ in [10, 20, 30, 255] }

    static func bitmap(
        _ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> [Int]
    ) -> Bitmap {
        let bytes = (0..<(width * height)).flatMap { index in
            pixel(index % width, index / width).map { UInt8($0) }
        }
        return Bitmap(pixels: Data(bytes), size: PixelSize(width: width, height: height))!
    }
}

extension Color {
    /// Whether no component but the opacity differs by `tolerance`.
    func isNear(_ other: Color, within tolerance: CGFloat) -> Bool {
        max(abs(red - other.red), abs(green - other.green), abs(blue - other.blue)) < tolerance
    }
}
