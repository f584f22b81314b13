import CCodecs
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct JPEGXLDecodingTests {
    @Test func keepsStraightOpacity() throws {
        let data = try JPEGXLFixture(hasAlpha: true).data([0.4, 0.2, 0, 0.6])
        #expect(try decoded(data).samples(3, 3) == [102, 51, 0, 153])
    }

    /// Floating-point samples are on the curve of their colour space, as all others are.
    @Test func readsFloatingPointSamplesAsTheyAre() throws {
        let image = try Image.decoding(
            JPEGXLFixture(bits: 32, isFloat: true).data([0.5, 0.25, 1.5]))
        #expect(image.depth == .sixteen)
        let colour = try image.bitmap()[7, 7]
        #expect(abs(colour.red - 0.5) < 0.0001)
        #expect(abs(colour.green - 0.25) < 0.0001)
        #expect(colour.blue == 1)
    }

    @Test func convertsLinearLight() throws {
        let data = try JPEGXLFixture(bits: 16, transfer: JXL_TRANSFER_FUNCTION_LINEAR)
            .data([0.21404, 1, 0])
        let colour = try decoded(data)[1, 1]
        #expect(abs(colour.red - 0.5) < 0.0002)
        #expect(colour.green == 1)
        #expect(colour.blue == 0)
    }

    /// 50 candelas per square metre, 0.4403 in SMPTE ST 2084, stay what they are beside the 203 of white
    /// paper: 0.246 of its light, and 0.534 in sRGB. The brightest light becomes white.
    @Test func showsBrightPicturesInTheRangeOfSRGB() throws {
        let fixture = JPEGXLFixture(
            bits: 16, transfer: JXL_TRANSFER_FUNCTION_PQ, primaries: JXL_PRIMARIES_2100,
            peak: 1000)
        let dim = try decoded(fixture.data([0.4403, 0.4403, 0.4403]))[1, 1]
        for component in [dim.red, dim.green, dim.blue] { #expect(abs(component - 0.534) < 0.003) }
        let bright = try decoded(fixture.data([0.7518, 0.7518, 0.7518]))[1, 1]
        #expect(bright.green > 0.995)
    }

    /// Half of the signal of hybrid log-gamma is a twelfth of the light of the scene, which a screen of 1000
    /// candelas shows with its gamma of 1.2 (ITU-R BT.2100): 50.7 candelas per square metre.
    @Test func showsPicturesOfHybridLogGammaInTheRangeOfSRGB() throws {
        let fixture = JPEGXLFixture(
            bits: 16, transfer: JXL_TRANSFER_FUNCTION_HLG, primaries: JXL_PRIMARIES_2100,
            peak: 1000)
        let dim = try decoded(fixture.data([0.5, 0.5, 0.5]))[1, 1]
        for component in [dim.red, dim.green, dim.blue] { #expect(abs(component - 0.537) < 0.005) }
        #expect(try decoded(fixture.data([1, 1, 1]))[1, 1].green > 0.995)
    }

    /// The same of files that hold colours as they are seen, in which nothing but the description says how
    /// bright they are.
    @Test(arguments: [JXL_TRANSFER_FUNCTION_PQ, JXL_TRANSFER_FUNCTION_HLG])
    func showsBrightPicturesOfFilesWithLossAlike(_ transfer: JxlTransferFunction) throws {
        let sample: Float = transfer == JXL_TRANSFER_FUNCTION_PQ ? 0.4403 : 0.5
        var fixture = JPEGXLFixture(
            bits: 16, transfer: transfer, primaries: JXL_PRIMARIES_2100, peak: 1000)
        let plain = try decoded(fixture.data([sample, sample, sample]))[1, 1]
        fixture.isLossy = true
        let lossy = try decoded(fixture.data([sample, sample, sample]))[1, 1]
        #expect(abs(plain.green - lossy.green) < 0.01)
        #expect(lossy.green > 0.5)
    }

    @Test func readsGrey() throws {
        let data = try JPEGXLFixture(isGrey: true, hasAlpha: true).data([0.4, 0.6])
        #expect(try decoded(data).samples(3, 3) == [102, 102, 102, 153])
    }

    @Test func playsAnimations() throws {
        let data = try JPEGXLFixture(delay: 30).data([1, 0, 0], [0, 1, 0], [0, 0, 1])
        let image = try Image.decoding(data)
        #expect(image.animation == AnimationTiming(durations: [0.3, 0.3, 0.3], loopCount: 3))
        let frames = try image.allBitmaps().map { $0.samples(5, 5) }
        #expect(frames == [[255, 0, 0], [0, 255, 0], [0, 0, 255]])
        #expect(try Image.decoding(data).bitmap(frame: 2).samples(5, 5) == [0, 0, 255])
    }

    @Test func refusesColoursOfPrintByName() throws {
        let data = try JPEGXLFixture(hasBlack: true).data([0.4, 0.2, 0])
        #expect(
            throws: ImageCodingError.unsupported(
                .JPEGXL, reason: "its colours are those of print (CMYK)")
        ) { try Image.decoding(data) }
    }

    @Test func callsWhatIsCutShortDamaged() throws {
        let whole = try encoded(.gradient(64, 64), as: .JPEGXL)
        for length in [whole.count - 1, whole.count / 2, 12] {
            #expect(throws: ImageCodingError.corrupt(.JPEGXL, reason: "it is cut short")) {
                try decoded(whole.prefix(length))
            }
        }
    }
}
