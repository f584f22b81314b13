package import Foundation
import Vips

extension Image {
    /// The image with left and right, or top and bottom, exchanged.
    package func flipped(horizontally: Bool, vertically: Bool) -> Image {
        guard horizontally || vertically else { return self }
        return changing(holdsPixels: vertically) { image, _ in
            // Reads the rows out of order.
            let upright = vertically ? try image.copiedToMemory().flippedVertically() : image
            return horizontally ? try upright.flippedHorizontally() : upright
        }
    }
}

/// A turn around the middle; the picture gets as large as it must to hold all of it.
struct RotationOperation: ImageOperation {
    /// Clockwise, in degrees, 0 ≤ angle < 360.
    let angle: Double
    /// The colour in the corners, and behind transparent parts of the image.
    let background: Color

    init(degrees: Double, background: Color) {
        let rest = degrees.isFinite ? degrees.truncatingRemainder(dividingBy: 360) : 0
        // A sum with a tiny negative angle is 360.
        let angle = rest < 0 ? rest + 360 : rest
        self.angle = angle == 360 ? 0 : angle
        self.background = background
    }

    /// The number of quarter turns, for which no pixel is computed.
    var quarterTurns: Int? {
        angle.truncatingRemainder(dividingBy: 90) == 0 ? Int(angle / 90) : nil
    }

    func outputSize(for input: PixelSize) -> PixelSize {
        if let quarterTurns { return quarterTurns % 2 == 0 ? input : input.transposed }
        let (width, height) = (Double(input.width), Double(input.height))
        let (cosine, sine) = (abs(cos(radians)), abs(sin(radians)))
        // A side that is a whole number but for the error of the sine does not grow by a pixel.
        func side(_ length: Double) -> Int { PixelSize.length((length - 1e-6).rounded(.up)) }
        return PixelSize(
            width: side(width * cosine + height * sine),
            height: side(width * sine + height * cosine))
    }

    func outputHasAlpha(for input: Bool) -> Bool {
        quarterTurns != nil ? input : background.alpha < 1
    }

    func heldPixels(of input: PixelSize) -> Int { input.pixelCount }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        let pixels = try image.copiedToMemory()
        if let quarterTurns { return try pixels.rotated(quarterTurns: quarterTurns) }
        let size = outputSize(for: input)
        let (cosine, sine) = (cos(radians), sin(radians))
        // Middles are half a pixel from the edge: the middle of the image becomes that of the result.
        let turned = try pixels.addingAlpha().premultiplied().apply(
            "affine",
            [
                "matrix": .doubles([cosine, -sine, sine, cosine]),
                "oarea": .ints([0, 0, size.width, size.height]),
                "idx": .double(0.5 - Double(input.width) / 2),
                "idy": .double(0.5 - Double(input.height) / 2),
                "odx": .double(Double(size.width) / 2 - 0.5),
                "ody": .double(Double(size.height) / 2 - 0.5),
                "interpolate": "bicubic", "premultiplied": true, "extend": "background",
            ])
        return try turned.unpremultiplied().quantized(like: image).composited(over: background)
    }

    private var radians: Double { angle * .pi / 180 }
}

extension Image {
    /// The image turned clockwise around its middle.
    ///
    /// - Parameters:
    ///   - degrees: Any number; multiples of 90 keep each pixel as it is.
    ///   - background: What is seen in the corners that other angles leave, and through the image.
    package func rotated(degrees: CGFloat, background: Color) -> Image {
        let operation = RotationOperation(degrees: degrees, background: background.clamped)
        return operation.angle == 0 ? self : applying(operation)
    }
}
