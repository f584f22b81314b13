import Foundation
import Testing

@testable import DirectCodecs

struct JPEGReaderTests {
    /// The signal-to-noise ratio of RGB bytes against Lanczos-3 of `pixels` in double precision.
    private static func quality(
        _ made: [UInt8], _ width: Int, _ height: Int, of pixels: [UInt8], _ fullWidth: Int
    ) -> Double {
        let fullHeight = pixels.count / 3 / fullWidth
        var error = 0.0
        for channel in 0..<3 {
            let exact = ExactLanczos.plane(
                stride(from: channel, to: pixels.count, by: 3).map { Double(pixels[$0]) },
                SampleAxis(sourceCount: fullWidth, targetCount: width),
                SampleAxis(sourceCount: fullHeight, targetCount: height))
            for (index, value) in exact.enumerated() {
                let difference = Double(made[3 * index + channel]) - min(max(value, 0), 255)
                error += difference * difference
            }
        }
        return 10 * log10(255 * 255 * Double(made.count) / max(error, 1e-9))
    }

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
                Self.quality(made, toW, toH, of: try file.jpegPixels(), w) > 45,
                "\(halves) \(isProgressive)")
        }
    }

    @Test(arguments: [false, true])
    func fastIsNearEnough(_ isProgressive: Bool) throws {
        let file = try JPEGFixture(width: 320, height: 240).jpeg(isProgressive: isProgressive)
        for (width, height) in [(40, 30), (70, 52), (150, 112)] {
            let made = try file.jpegPixels(width, height, isFast: true)
            #expect(Self.quality(made, width, height, of: try file.jpegPixels(), 320) > 30)
        }
    }

    @Test(arguments: [1, 2, 4, 8])
    func roundsReducedSizesUp(_ denominator: Int) throws {
        let file = try JPEGFixture(width: 37, height: 21).jpeg()
        let expected =
            ((37 + denominator - 1) / denominator) * ((21 + denominator - 1) / denominator)
        #expect(try file.jpegPixels(denominator: denominator).count == expected * 3)
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
