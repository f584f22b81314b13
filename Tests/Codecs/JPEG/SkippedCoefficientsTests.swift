import CoefficientJPEGTestKit
import Foundation
import Testing

@testable import DirectCodecs

struct SkippedCoefficientsTests {
    struct Subject: Sendable, CustomTestStringConvertible {
        let horizontal: Int
        let vertical: Int
        var channels = 3
        var isProgressive = false
        var testDescription: String {
            "\(channels) channels, \(horizontal)×\(vertical)\(isProgressive ? ", progressive" : "")"
        }

        var file: Data {
            var sample = JPEGSample(width: 203, height: 150)
            sample.channels = channels
            (sample.horizontal, sample.vertical) = (horizontal, vertical)
            sample.isProgressive = isProgressive
            sample.noise = 3
            return Data(sample.encoded())
        }

        var progressive: Subject {
            var subject = self
            subject.isProgressive = true
            return subject
        }
    }

    static let subjects = [
        Subject(horizontal: 1, vertical: 1, channels: 1), Subject(horizontal: 1, vertical: 1),
        Subject(horizontal: 2, vertical: 1), Subject(horizontal: 1, vertical: 2),
        Subject(horizontal: 2, vertical: 2),
    ]
    static let subjectsOfAllKinds = subjects + subjects.map(\.progressive)

    @Test(arguments: subjects) func areNotMissedAtAnEighthOfTheSize(_ subject: Subject) throws {
        let whole = try subject.file.jpegPixels(25, 18, isFast: true, skipsCoefficients: false)
        #expect(try subject.file.jpegPixels(25, 18, isFast: true) == whole)
        #expect(Set(whole).count > 20)
    }

    @Test(arguments: subjects.map(\.progressive))
    func areNotMissedInTheBestQualityOfAProgressiveFile(_ subject: Subject) throws {
        let whole = try subject.file.jpegPixels(12, 9, skipsCoefficients: false)
        #expect(try subject.file.jpegPixels(12, 9) == whole)
        #expect(Set(whole).count > 20)
    }

    /// Low frequencies are kept where libjpeg takes means, so the two differ, but not by much.
    @Test(arguments: subjectsOfAllKinds, [(50, 37), (101, 75)])
    func makeNoVisibleDifferenceAtAQuarterAndAHalf(_ subject: Subject, _ size: (Int, Int)) throws {
        let file = subject.file
        let whole = try file.jpegPixels(size.0, size.1, isFast: true, skipsCoefficients: false)
        let skipped = try file.jpegPixels(size.0, size.1, isFast: true)
        let error = zip(whole, skipped).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
        #expect(10 * log10(255 * 255 * Double(whole.count) / max(error, 1)) > 30)
    }

    @Test func areReadOfFilesThatAreNoneOfTheirs() throws {
        let file = Subject(horizontal: 4, vertical: 1).file
        #expect(
            try file.jpegPixels(25, 18, isFast: true)
                == file.jpegPixels(25, 18, isFast: true, skipsCoefficients: false))
    }
}
