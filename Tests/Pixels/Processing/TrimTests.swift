import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct TrimTests {
    private static func block(
        _ ground: SIMD4<Double>, left: Int, top: Int, right: Int, bottom: Int
    ) -> Picture {
        let noise = Picture.noise(width: 20, height: 12, hasAlpha: false).map {
            // Far enough from white and black.
            SIMD4(0.3 + 0.4 * $0.x, 0.3 + 0.4 * $0.y, 0.3 + 0.4 * $0.z, 1)
        }
        return Picture(width: 20 + left + right, height: 12 + top + bottom) { x, y in
            let (x, y) = (x - left, y - top)
            return (0..<20).contains(x) && (0..<12).contains(y) ? noise[x, y] : ground
        }
    }

    @Test(arguments: PixelKind.all)
    func cutsOffTheBorder(_ kind: PixelKind) throws {
        let image = kind.image(Self.block(.one, left: 3, top: 5, right: 7, bottom: 2))
        let result = image.kf.trimmed()
        #expect(result.pixelSize == PixelSize(width: 20, height: 12))
        let source = try Picture(image)
        let expected = Picture(width: 20, height: 12) { source[$0 + 3, $1 + 5] }
        #expect(try Picture(result) == expected)
    }

    @Test func cutsTheSameOffBothSidesIfAskedTo() {
        let image = Self.block(.one, left: 3, top: 5, right: 7, bottom: 2).image(hasAlpha: false)
        let across = image.kf.trimmed(isEvenHorizontally: true)
        #expect(across.pixelSize == PixelSize(width: 24, height: 12))
        let down = image.kf.trimmed(isEvenVertically: true)
        #expect(down.pixelSize == PixelSize(width: 20, height: 15))
    }

    @Test func theColorCanBeGiven() throws {
        // Black above, white at the other edges.
        let white = Self.block(.one, left: 4, top: 4, right: 4, bottom: 4)
        let picture = Picture(width: white.width, height: white.height + 3) { x, y in
            y < 3 ? SIMD4(0, 0, 0, 1) : white[x, y - 3]
        }
        let image = picture.image(hasAlpha: false)
        #expect(image.kf.trimmed().pixelSize == PixelSize(width: 28, height: 20))
        #expect(image.kf.trimmed(color: .white).pixelSize == PixelSize(width: 28, height: 19))
    }

    @Test func theThresholdTellsHowPlainABorderHasToBe() {
        let white = Self.block(.one, left: 4, top: 4, right: 4, bottom: 4)
        // A ground that is not quite white to the left.
        let image = Picture(width: white.width, height: white.height) { x, y in
            x < 2 ? .grey(0.9) : white[x, y]
        }.image(hasAlpha: false)
        #expect(image.kf.trimmed(threshold: 60, color: .white).pixelSize.width == 20)
        #expect(image.kf.trimmed(threshold: 5, color: .white).pixelSize.width == 24)
    }

    @Test func transparentPartsAreABorder() {
        let picture = Self.block(.zero, left: 3, top: 3, right: 3, bottom: 3)
        #expect(picture.image().kf.trimmed().pixelSize == PixelSize(width: 20, height: 12))
    }

    @Test func aPictureThatIsNothingButBorderStays() {
        let plain = Picture(width: 6, height: 5) { _, _ in .one }.image(hasAlpha: false)
        #expect(plain.kf.trimmed() === plain)
        let dot = Picture(width: 1, height: 1) { _, _ in .one }.image()
        #expect(dot.kf.trimmed() === dot)
    }

    @Test func anAnimationStays() throws {
        let frame = Self.block(.one, left: 3, top: 3, right: 3, bottom: 3).bitmap(hasAlpha: false)
        let image = try #require(
            Image(
                frames: [frame, frame],
                timing: AnimationTiming(durations: [0.1, 0.1], loopCount: 0)))
        #expect(image.kf.trimmed() === image)
    }

    @Test func aDamagedFileSaysWhy() throws {
        let image = Self.block(.one, left: 3, top: 3, right: 3, bottom: 3).image(hasAlpha: false)
        let file = try image.kf.data(format: .PNG, options: ImageEncodingOptions())
        let damaged = try Image.decoding(file.prefix(file.count / 2))
        let error = #expect(throws: ImageCodingError.self) { try damaged.kf.trimmed().bitmap() }
        guard case .corrupt(.PNG, _)? = error else { throw Unexpected(error) }
    }
}
