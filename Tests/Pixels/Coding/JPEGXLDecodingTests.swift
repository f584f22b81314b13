import CCodecs
import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct JPEGXLDecodingTests {
    /// Floating-point samples are on the curve of their colour space, as all others are.
    @Test func readsFloatingPointSamplesAsTheyAre() throws {
        let bitmap = try decoded(JPEGXLFixture(bits: 32, isFloat: true).data([0.5, 0.25, 1.5]))
        #expect(bitmap.depth == .sixteen)
        let colour = bitmap[7, 7]
        #expect(abs(colour.red - 0.5) < 0.0001 && abs(colour.green - 0.25) < 0.0001)
        #expect(colour.blue == 1)
    }

    @Test func convertsLinearLight() throws {
        let data = try JPEGXLFixture(bits: 16, transfer: JXL_TRANSFER_FUNCTION_LINEAR)
            .data([0.21404, 1, 0])
        let colour = try decoded(data)[1, 1]
        #expect(abs(colour.red - 0.5) < 0.0002 && colour.green == 1 && colour.blue == 0)
    }

    /// 50 candelas per square metre, 0.4403 in SMPTE ST 2084, stay what they are beside the 203 of white
    /// paper: 0.246 of its light, and 0.534 in sRGB. The brightest light becomes white.
    ///
    /// Half of the signal of hybrid log-gamma is a twelfth of the light of the scene, which a screen of 1000
    /// candelas shows with its gamma of 1.2 (ITU-R BT.2100): 50.7 candelas per square metre.
    ///
    /// In files that hold colours as they are seen nothing but the description says how bright they are.
    @Test(
        arguments: [
            (JXL_TRANSFER_FUNCTION_PQ, 0.4403, 0.534, 0.003, 0.7518),
            (JXL_TRANSFER_FUNCTION_HLG, 0.5, 0.537, 0.005, 1),
        ] as [(JxlTransferFunction, Float, Double, Double, Float)])
    func showsBrightPicturesInTheRangeOfSRGB(
        _ transfer: JxlTransferFunction, _ dim: Float, _ sample: Double, _ tolerance: Double,
        _ white: Float
    ) throws {
        var fixture = JPEGXLFixture(
            bits: 16, transfer: transfer, primaries: JXL_PRIMARIES_2100, peak: 1000)
        let plain = try decoded(fixture.data([dim, dim, dim]))[1, 1]
        for component in [plain.red, plain.green, plain.blue] {
            #expect(abs(component - sample) < tolerance)
        }
        #expect(try decoded(fixture.data([white, white, white]))[1, 1].green > 0.995)
        fixture.isLossy = true
        let lossy = try decoded(fixture.data([dim, dim, dim]))[1, 1]
        #expect(abs(plain.green - lossy.green) < 0.01)
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
        let error = ImageCodingError.unsupported(
            .JPEGXL, reason: "its colours are those of print (CMYK)")
        #expect(throws: error) { try Image.decoding(data) }
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

/// The libraries that are loaded when the first file needs them.
struct CodecLibraryTests {
    @Test func loadsTheLibjxlOfItsHeaders() throws {
        let version = try #require(JPEGXLFile.libraryVersion)
        #expect(version.hasPrefix("\(JPEGXL_MAJOR_VERSION).\(JPEGXL_MINOR_VERSION)."))
    }

    @Test func loadsTheLibavifOfItsHeaders() throws {
        let version = try #require(AVIFFile.libraryVersion)
        #expect(version.hasPrefix("\(AVIF_VERSION_MAJOR).\(AVIF_VERSION_MINOR)."))
    }
}
