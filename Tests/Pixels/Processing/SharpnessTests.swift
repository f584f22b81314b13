import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// An exact blur, sharper edges, and squares.
@Suite struct SharpnessTests {
    /// The sums of the definition, over premultiplied, edge-extended pixels.
    private static func gaussian(_ picture: Picture, sigma: Double) -> Picture {
        let reach = Int((sigma * 6).rounded(.up))
        let bell = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = bell.reduce(0, +)
        func pass(_ source: Picture, _ step: (Int, Int, Int) -> (Int, Int)) -> Picture {
            Picture(width: source.width, height: source.height) { x, y in
                var value = SIMD4<Double>.zero
                for offset in -reach...reach {
                    let (column, row) = step(x, y, offset)
                    value += source.extended(column, row) * bell[offset + reach] / sum
                }
                return value
            }
        }
        let across = pass(picture.map { ($0 * $0.w).with(alpha: $0.w) }) { ($0 + $2, $1) }
        return pass(across) { ($0, $1 + $2) }
            .map { $0.w > 0 ? ($0 / $0.w).with(alpha: $0.w) : .zero }
    }

    @Test(arguments: [0.3, 0.5, 1, 1.7, 4, 17, 60])
    func blursByAGaussian(_ sigma: Double) throws {
        for kind in PixelKind.all {
            for (width, height) in [(15, 9), (2, 12), (1, 1), (50, 3)] {
                let picture = kind.noise(width: width, height: height)
                let expected = Self.gaussian(picture, sigma: sigma)
                let result = try Picture(kind.image(picture).kf.gaussianBlurred(sigma: sigma))
                // The curve ends where it is a thousandth high.
                #expect(result.difference(to: expected) <= 1.0 / 255 + kind.step)
            }
        }
    }

    @Test func anyLengthIsTaken() throws {
        let image = Picture.noise(width: 9, height: 9).image()
        #expect(try image.kf.gaussianBlurred(sigma: 1e9).bitmap().size == image.pixelSize)
        #expect(try image.kf.sharpened(sigma: 500).bitmap().size == image.pixelSize)
    }

    @Test(arguments: PixelKind.all)
    func sharpensEdgesAndLeavesFlatAreasAlone(_ kind: PixelKind) throws {
        let step = Picture(width: 40, height: 12) { x, _ in
            .grey(x < 20 ? 0.4 : 0.6, alpha: kind.hasAlpha ? 0.8 : 1)
        }
        let source = try Picture(kind.image(step))
        let result = try Picture(kind.image(step).kf.sharpened(sigma: 1))
        #expect(result[19, 6].x < source[19, 6].x - 0.01)
        #expect(result[20, 6].x > source[20, 6].x + 0.01)
        for x in [2, 10, 30, 37] {
            #expect(abs(result[x, 6].x - source[x, 6].x) <= 1.0 / 255)
        }
        #expect(zip(result.pixels, source.pixels).allSatisfy { $0.w == $1.w })
    }

    @Test(arguments: PixelKind.all)
    func aSquareIsTheMeanOfItsPixels(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 11, height: 7)
        let result = try Picture(kind.image(picture).kf.pixelated(side: 4))
        // Beyond the edge the picture goes on as its mirror image.
        func mirrored(_ index: Int, _ length: Int) -> Int {
            index < length ? index : 2 * length - 1 - index
        }
        let expected = Picture(width: 11, height: 7) { x, y in
            var (colour, alpha) = (SIMD4<Double>.zero, 0.0)
            for row in (y / 4 * 4)..<(y / 4 * 4 + 4) {
                for column in (x / 4 * 4)..<(x / 4 * 4 + 4) {
                    let pixel = picture[mirrored(column, 11), mirrored(row, 7)]
                    colour += pixel * pixel.w
                    alpha += pixel.w
                }
            }
            return alpha > 0 ? (colour / alpha).with(alpha: alpha / 16) : .zero
        }
        #expect(result.difference(to: expected) <= kind.step * 1.01)
        #expect(result[0, 0] == result[3, 3] && result[0, 0] != result[4, 0])
    }

    @Test func aSquareOfTheWholePictureIsItsMean() throws {
        let picture = Picture(width: 6, height: 6) { x, _ in
            x < 3 ? SIMD4(0, 0, 0, 1) : SIMD4(0.8, 0, 0, 1)
        }
        let image = picture.image(hasAlpha: false)
        for side in [6.0, 100, 1e9] {
            let result = try Picture(image.kf.pixelated(side: side))
            #expect(result.pixels.allSatisfy { abs($0.x - 0.4) <= 0.5 / 255 })
        }
    }
}
