package import Foundation
import Vips

extension Image {
    /// The image in greys, each the luminance of the colour.
    package func greyed() -> Image {
        changing { image, _ in try image.greyed() }
    }

    /// The image in black and white: white where the luminance is at least `threshold`, 0…1.
    package func bitonal(threshold: CGFloat) -> Image {
        let threshold = Double(threshold.clamped)
        return changing { image, _ in
            let least = threshold * image.fullScale
            return try image.greyed().mappingColor { grey in
                let isWhite = try grey.apply(
                    "relational_const", ["relational": "moreeq", "c": .doubles([least])])
                return try isWhite.linear(multiply: [image.fullScale / 255], add: [0])
            }
        }
    }
}

extension VipsImage {
    private static let greyWeights = PixelMemory(
        samples: [[Double]](repeating: LinearLight.luminance, count: 3).flatMap { $0 })

    /// Luminance in place of colours: by the weights of Rec. 709, of the sRGB values as they are.
    fileprivate func greyed() throws -> VipsImage {
        let weights = try VipsImage.matrix(Self.greyWeights)
        return try mappingColor { try $0.apply("recomb", ["m": .image(weights)]) }
    }
}
