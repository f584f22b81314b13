import Foundation
import Testing

@testable import DirectCodecs

struct JPEGReaderTests {
    @Test(arguments: [
        (160, 120, 60, 45), (233, 141, 28, 17), (233, 141, 22, 13), (200, 150, 99, 75),
        (97, 61, 96, 60), (240, 180, 14, 11),
    ])
    func bestIsLanczosOfAllPixels(_ w: Int, _ h: Int, _ toW: Int, _ toH: Int) throws {
        for (halves, isProgressive) in [(true, false), (false, false), (true, true)] {
            let file = try JPEGFixture(width: w, height: h).jpeg(
                halvesChroma: halves, isProgressive: isProgressive)
            let made = try file.jpegPixels(toW, toH)
            #expect(
                ExactLanczos.quality(made, toW, toH, of: try file.jpegPixels(), w) > 45,
                "\(halves) \(isProgressive)")
        }
    }

    @Test(arguments: [false, true])
    func fastIsNearEnough(_ isProgressive: Bool) throws {
        let file = try JPEGFixture(width: 320, height: 240).jpeg(isProgressive: isProgressive)
        for (width, height) in [(40, 30), (70, 52), (150, 112)] {
            let made = try file.jpegPixels(width, height, isFast: true)
            let quality = ExactLanczos.quality(made, width, height, of: try file.jpegPixels(), 320)
            #expect(quality > 30)
        }
    }

    @Test(arguments: [(1, 37 * 21), (2, 19 * 11), (4, 10 * 6), (8, 5 * 3)])
    func roundsReducedSizesUp(_ denominator: Int, _ count: Int) throws {
        let file = try JPEGFixture(width: 37, height: 21).jpeg()
        #expect(try file.jpegPixels(denominator: denominator).count == count * 3)
    }

    @Test func decodesNoMoreThanQualityNeeds() throws {
        let header = try #require(try JPEGFixture(width: 801, height: 600).jpeg().jpegHeader)
        func denominator(_ width: Int, _ height: Int, isFast: Bool) -> Int {
            JPEGReader.denominator(for: header, width: width, height: height, isFast: isFast)
        }
        #expect(denominator(101, 75, isFast: true) == 8)
        #expect(denominator(102, 75, isFast: true) == 4)
        #expect(denominator(101, 75, isFast: false) == 2)
        #expect(denominator(50, 37, isFast: false) == 8)
        #expect(denominator(500, 10, isFast: true) == 1)
        #expect(denominator(900, 900, isFast: false) == 1)
    }

    @Test(arguments: [false, true])
    func keepsAFlatGrey(_ isProgressive: Bool) throws {
        let grey = [UInt8](repeating: 140, count: 90 * 70 * 3)
        let file = try JPEGWriter.write(
            grey, width: 90, height: 70, channels: 3,
            options: JPEGWriter.Options(quality: 95, isProgressive: isProgressive))
        for (width, height) in [(90, 70), (45, 35), (31, 24), (9, 7), (1, 1)] {
            for isFast in [false, true] {
                #expect(try file.jpegPixels(width, height, isFast: isFast).allSatisfy { $0 == 140 })
            }
        }
    }
}
