import CoefficientJPEGTestKit
import Foundation
import Testing

@testable import DirectCodecs

struct SkippedCoefficientsTests {
    /// The factors of sampling, and the number of channels.
    typealias Sampling = (horizontal: Int, vertical: Int, channels: Int)

    static let samplings: [Sampling] = [(1, 1, 1), (1, 1, 3), (2, 1, 3), (1, 2, 3), (2, 2, 3)]

    private func file(_ sampling: Sampling, isProgressive: Bool = false) -> Data {
        var sample = JPEGSample(width: 203, height: 150)
        (sample.horizontal, sample.vertical, sample.channels) = sampling
        sample.isProgressive = isProgressive
        sample.noise = 3
        return Data(sample.encoded())
    }

    @Test(arguments: samplings) func areNotMissedAtAnEighthOfTheSize(_ sampling: Sampling) throws {
        let file = file(sampling)
        let whole = try file.jpegPixels(25, 18, isFast: true, skipsCoefficients: false)
        #expect(try file.jpegPixels(25, 18, isFast: true) == whole && Set(whole).count > 20)
    }

    @Test(arguments: samplings)
    func areNotMissedInTheBestQualityOfAProgressiveFile(_ sampling: Sampling) throws {
        let file = file(sampling, isProgressive: true)
        let whole = try file.jpegPixels(12, 9, skipsCoefficients: false)
        #expect(try file.jpegPixels(12, 9) == whole && Set(whole).count > 20)
    }

    /// Low frequencies are kept where libjpeg takes means, so the two differ, but not by much.
    @Test(arguments: samplings, [false, true])
    func makeNoVisibleDifferenceAtAQuarterAndAHalf(
        _ sampling: Sampling, _ isProgressive: Bool
    ) throws {
        let file = file(sampling, isProgressive: isProgressive)
        for (width, height) in [(50, 37), (101, 75)] {
            let whole = try file.jpegPixels(width, height, isFast: true, skipsCoefficients: false)
            let skipped = try file.jpegPixels(width, height, isFast: true)
            let error = zip(whole, skipped).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
            #expect(10 * log10(255 * 255 * Double(whole.count) / max(error, 1)) > 30)
        }
    }

    @Test func areReadOfFilesThatAreNoneOfTheirs() throws {
        let file = file((4, 1, 3))
        #expect(
            try file.jpegPixels(25, 18, isFast: true)
                == file.jpegPixels(25, 18, isFast: true, skipsCoefficients: false))
    }
}
