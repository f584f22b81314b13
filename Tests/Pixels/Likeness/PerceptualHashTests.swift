import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct PerceptualHashTests {
    private static func grey(_ width: Int, _ height: Int, _ value: (Int, Int) -> Int) -> Bitmap {
        HashPicture.bitmap(width, height) { Array(repeating: value($0, $1), count: 3) + [255] }
    }

    @Test func aDHashTellsWhereItGetsBrighterRowByRow() {
        // Brighter to the right in even rows, darker in odd ones, plain in the last.
        let bitmap = Self.grey(9, 8) { x, y in y == 7 ? 100 : y % 2 == 0 ? 20 * x : 200 - 20 * x }
        let hash = PerceptualHash(differencesOf: SmallPicture(bitmap))
        #expect(hash.description == "ff00ff00ff00ff00")
        let first = Self.grey(9, 8) { x, y in x == 1 && y == 0 ? 200 : 10 }
        #expect(PerceptualHash(differencesOf: SmallPicture(first)).bits == 1 << 63)
    }

    @Test func aPHashTellsWhichFrequenciesAreAboveTheMedian() {
        // One wave across and a weaker one down: all others are 0 but for rounding.
        let bitmap = Self.grey(32, 32) { x, y in
            let across = cos(.pi / 32 * (Double(x) + 0.5) * 3)
            let down = cos(.pi / 32 * (Double(y) + 0.5) * 2)
            return Int((128 + 80 * across - 40 * down).rounded())
        }
        let hash = PerceptualHash(frequenciesOf: SmallPicture(bitmap))
        func bit(column: Int, row: Int) -> Bool {
            hash.bits >> (63 - UInt64(row * 8 + column)) & 1 == 1
        }
        #expect(bit(column: 3, row: 0) && !bit(column: 0, row: 2) && !bit(column: 0, row: 0))
        // Half of the 63 are above their median, which is one of them.
        #expect(hash.bits.nonzeroBitCount == 31)
    }

    @Test func theConstantDoesNotCount() {
        func hash(_ offset: Int) -> PerceptualHash {
            let bitmap = Self.grey(32, 32) { x, y in (x * x + 3 * y * y) % 61 + offset }
            return PerceptualHash(frequenciesOf: SmallPicture(bitmap))
        }
        #expect(hash(10) == hash(150))
    }

    @Test func isWrittenWithSixteenDigits() {
        let hash = PerceptualHash(bits: 0xab)
        #expect(hash.description == "00000000000000ab")
        #expect(PerceptualHash("00000000000000AB") == hash)
        for text in ["", "ab", "0x000000000000ab", "+0000000000000ab", "00000000000000abc"] {
            #expect(PerceptualHash(text) == nil)
        }
    }

    @Test func theDistanceCountsTheBitsThatDiffer() {
        let hash = PerceptualHash(bits: 0b1011)
        #expect(hash.distance(to: hash) == 0)
        #expect(hash.distance(to: PerceptualHash(bits: 0b0010)) == 2)
        #expect(PerceptualHash(bits: 0).distance(to: PerceptualHash(bits: .max)) == 64)
    }

    @Test func copiesInOtherSizesAndFormatsAreNearAndOthersFar() async throws {
        let photo = Self.scene(3).image(hasAlpha: false)
        let other = try await Self.scene(5).image(hasAlpha: false).kf.pHash()
        let hash = try await photo.kf.pHash()
        let difference = try await photo.kf.dHash()
        let jpeg = try photo.kf.resize(to: CGSize(width: 90, height: 60)).kf.data(
            format: .JPEG, options: ImageEncodingOptions(quality: 0.5))
        let copy = try Image.decoding(jpeg)
        #expect(try await copy.kf.pHash().distance(to: hash) <= 6)
        #expect(try await copy.kf.dHash().distance(to: difference) <= 6)
        #expect(hash.distance(to: other) >= 16)
    }

    /// Blocks of random greys, softly coloured.
    private static func scene(_ seed: UInt64) -> Picture {
        var random = SeededGenerator(state: seed)
        let blocks = (0..<96).map { _ in Double.random(in: 0...1, using: &random) }
        return Picture(width: 240, height: 160) { x, y in
            let value = blocks[y / 20 * 12 + x / 20]
            return SIMD4(value, value * 0.8, 1 - value / 2, 1)
        }
    }
}
