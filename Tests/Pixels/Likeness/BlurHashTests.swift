import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct BlurHashTests {
    @Test(
        arguments: [
            (HashPicture.gradient, 4, 3, "LxH2cX2swxX8l}WDjte;gJfjfQfj"),
            (HashPicture.pattern, 4, 3, "L.HLv}2VwxSgq6W.jufigcfjfQfj"),
            (HashPicture.pattern, 5, 4, "V.HLv}2VwxSgo1q6W.jufifQgcfjfQfjfQo^WpjtfQfQ"),
            (HashPicture.plain, 1, 1, "001C={"),
            (HashPicture.plain, 4, 3, "L01C={tnfQtntnkCfQkCfQfQfQfQ"),
        ])
    func writesWhatOtherProgramsWrite(
        _ bitmap: Bitmap, _ columns: Int, _ rows: Int, _ hash: String
    ) throws {
        #expect(BlurHash(bitmap, columns: columns, rows: rows).description == hash)
        let read = try BlurHash(hash)
        #expect(read.description == hash && read.columns == columns && read.rows == rows)
    }

    @Test func showsThePictureWithoutItsDetails() throws {
        let hash = BlurHash(HashPicture.gradient, columns: 9, rows: 9)
        let shown = hash.bitmap(size: PixelSize(width: 32, height: 32))
        let opaque = try Image(bitmap: HashPicture.gradient).bitmap()
        for (x, y) in [(4, 4), (16, 16), (27, 5), (5, 27), (20, 12)] {
            #expect(shown[x, y].isNear(opaque[x, y], within: 0.08))
        }
        #expect(!shown.hasAlpha)
    }

    @Test func aConstantIsOneColorInAnySize() throws {
        let hash = try BlurHash("001C={")
        let color = Color(red: 10.0 / 255, green: 20.0 / 255, blue: 30.0 / 255)
        #expect(hash.averageColor == color)
        let shown = hash.bitmap(size: PixelSize(width: 3, height: 5))
        #expect(shown.size == PixelSize(width: 3, height: 5))
        #expect(shown[0, 0] == color && shown[2, 4] == color)
        #expect(hash.bitmap(size: PixelSize(width: 0, height: -1)).size.pixelCount == 1)
    }

    @Test func punchMakesTheWavesStronger() throws {
        let hash = BlurHash(HashPicture.gradient)
        func contrast(_ punch: Double) -> CGFloat {
            let shown = hash.bitmap(size: PixelSize(width: 16, height: 16), punch: punch)
            return shown[15, 8].red - shown[0, 8].red
        }
        #expect(contrast(0.5) < contrast(1) && contrast(0) == 0)
    }

    @Test func countsBeyondTheRangeAreTheNearest() {
        let hash = BlurHash(HashPicture.plain, columns: 0, rows: 12)
        #expect(hash.columns == 1 && hash.rows == 9)
        #expect(hash.description.utf8.count == 4 + 2 * 9)
    }

    @Test func whatIsTransparentCountsAsWhite() {
        let clear = HashPicture.bitmap(4, 4) { _, _ in [0, 0, 0, 0] }
        #expect(BlurHash(clear, columns: 1, rows: 1).averageColor == .white)
    }

    @Test(arguments: [
        ("", "shorter than 6"), ("00000", "shorter than 6"), ("001C={0", "has 6 characters"),
        ("L01C={tnfQ", "has 28 characters"), ("00\"C={", "base 83"), ("é01C={", "base 83"),
        ("~01C={", "size"), ("00~~~~", "colour"),
    ])
    func saysWhyATextIsNone(_ text: String, _ problem: String) {
        let error = #expect(throws: MalformedHash.self) { try BlurHash(text) }
        #expect(error?.description.contains(problem) == true)
    }

    @Test func aLargePhotoIsReducedFirst() async throws {
        let photo = Picture(width: 640, height: 320) { x, y in
            SIMD4(Double(x) / 640, 1 - Double(y) / 320, 0.5, 1)
        }
        let hash = try await photo.image(hasAlpha: false).kf.blurHash()
        let shown = hash.bitmap(size: PixelSize(width: 32, height: 16))
        #expect(abs(shown[16, 8].red - 0.5) < 0.1 && abs(shown[16, 8].blue - 0.5) < 0.05)
        #expect(shown[2, 2].red < 0.3 && shown[29, 13].red > 0.7)
    }
}
