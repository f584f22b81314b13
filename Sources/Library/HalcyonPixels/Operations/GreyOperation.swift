package import Foundation
import Vips

/// Luminance in place of colours: by the weights of Rec. 709, of the sRGB values as they are.
struct GreyOperation: ImageOperation {
    private static let weights = PixelMemory(
        samples: [[Double]](repeating: [0.2126, 0.7152, 0.0722], count: 3).flatMap { $0 })

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        let weights = try VipsImage.matrix(Self.weights)
        return try image.mappingColor { try $0.apply("recomb", ["m": .image(weights)]) }
    }
}

/// Black and white, and nothing in between.
struct ThresholdOperation: ImageOperation {
    /// The least luminance that becomes white, 0…1.
    let threshold: Double

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        let least = threshold * image.fullScale
        return try GreyOperation().apply(to: image, input: input).mappingColor { grey in
            let isWhite = try grey.apply(
                "relational_const", ["relational": "moreeq", "c": .doubles([least])])
            return try isWhite.linear(multiply: [image.fullScale / 255], add: [0])
        }
    }
}

extension Image {
    /// The image in greys, each the luminance of the colour.
    package func greyed() -> Image {
        applying(GreyOperation())
    }

    /// The image in black and white: white where the luminance is at least `threshold`, 0…1.
    package func bitonal(threshold: CGFloat) -> Image {
        applying(ThresholdOperation(threshold: threshold.clamped))
    }
}
