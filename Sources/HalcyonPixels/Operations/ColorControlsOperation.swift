package import Foundation
import Vips

/// The four controls as one affine change of linear light.
struct ColorControlsOperation: ImageOperation {
    let brightness: Double
    let contrast: Double
    let saturation: Double
    let exposure: Double

    private static let luminance = [0.2126, 0.7152, 0.0722]

    /// Row by row, the part of R, G and B in each result.
    var matrix: [Double] {
        (0..<9).map { index in
            let (row, column) = (index / 3, index % 3)
            let own = row == column ? saturation : 0
            return gain * contrast * (own + (1 - saturation) * Self.luminance[column])
        }
    }

    /// What is added to each result.
    var offset: Double { gain * (contrast * (brightness - 0.5) + 0.5) }

    /// Bounded so that no value becomes infinite.
    private var gain: Double { exp2(min(max(exposure, -64), 64)) }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        try image.mappingColor { try $0.transformingLinearLight(matrix: matrix, offset: offset) }
    }
}

extension Image {
    /// The image with other colours: saturation, brightness, contrast and exposure, in this order, on
    /// linear light.
    package func adjusted(
        brightness: CGFloat, contrast: CGFloat, saturation: CGFloat, exposure: CGFloat
    ) -> Image {
        applying(
            ColorControlsOperation(
                brightness: brightness, contrast: contrast, saturation: saturation,
                exposure: exposure))
    }
}
