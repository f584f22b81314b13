import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The kinds of pixels that every processor has to deal with.
struct PixelKind: CustomTestStringConvertible, Sendable {
    let hasAlpha: Bool
    let depth: Bitmap.Depth

    static let all = [
        PixelKind(hasAlpha: false, depth: .eight), PixelKind(hasAlpha: true, depth: .eight),
        PixelKind(hasAlpha: false, depth: .sixteen), PixelKind(hasAlpha: true, depth: .sixteen),
    ]

    /// One step of a sample, 0…1.
    var step: Double { depth == .eight ? 1 / 255 : 1 / 65535 }

    var testDescription: String { "\(hasAlpha ? "RGBA" : "RGB") \(depth.rawValue) bits" }

    func noise(width: Int, height: Int) -> Picture {
        .noise(width: width, height: height, hasAlpha: hasAlpha)
    }

    func image(_ picture: Picture, scale: CGFloat = 1) -> Image {
        picture.image(hasAlpha: hasAlpha, depth: depth, scale: scale)
    }
}

extension KingfisherParsedOptionsInfo {
    static func scale(_ scale: CGFloat) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo([.scaleFactor(scale)])
    }
}

extension ImageProcessor {
    /// What it makes of an image, which it must not refuse.
    func applied(
        to image: Image, scale: CGFloat = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Image {
        try #require(
            process(item: .image(image), options: .scale(scale)), sourceLocation: sourceLocation)
    }
}

extension SIMD4<Double> {
    func with(alpha: Double) -> SIMD4<Double> { SIMD4(x, y, z, alpha) }

    static func grey(_ level: Double, alpha: Double = 1) -> SIMD4<Double> {
        SIMD4(level, level, level, alpha)
    }
}
