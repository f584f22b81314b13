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

        var file: [UInt8] {
            var sample = JPEGSample(width: 203, height: 150)
            sample.channels = channels
            sample.horizontal = horizontal
            sample.vertical = vertical
            sample.isProgressive = isProgressive
            sample.noise = 3
            return sample.encoded()
        }
    }

    static let subjects = [
        Subject(horizontal: 1, vertical: 1, channels: 1), Subject(horizontal: 1, vertical: 1),
        Subject(horizontal: 2, vertical: 1), Subject(horizontal: 1, vertical: 2),
        Subject(horizontal: 2, vertical: 2),
    ]
    static let subjectsOfAllKinds =
        subjects
        + subjects.map { subject in
            var subject = subject
            subject.isProgressive = true
            return subject
        }

    private func pixels(
        _ file: [UInt8], _ width: Int, _ height: Int, isFast: Bool = true,
        skipsCoefficients: Bool
    ) throws -> [UInt8] {
        try file.withUnsafeBytes { bytes in
            let header = try #require(JPEGHeader(bytes))
            var pixels = [UInt8](repeating: 0, count: width * height * 3)
            try JPEGReader.read(
                bytes, header: header, width: width, height: height, isFast: isFast,
                skipsCoefficients: skipsCoefficients, into: &pixels)
            return pixels
        }
    }

    @Test(arguments: subjects)
    func areNotMissedAtAnEighthOfTheSize(_ subject: Subject) throws {
        let file = subject.file
        let whole = try pixels(file, 25, 18, skipsCoefficients: false)
        #expect(try pixels(file, 25, 18, skipsCoefficients: true) == whole)
        #expect(Set(whole).count > 20)
    }

    @Test(arguments: subjects)
    func areNotMissedInTheBestQualityOfAProgressiveFile(_ subject: Subject) throws {
        var subject = subject
        subject.isProgressive = true
        let file = subject.file
        let whole = try pixels(file, 12, 9, isFast: false, skipsCoefficients: false)
        #expect(try pixels(file, 12, 9, isFast: false, skipsCoefficients: true) == whole)
        #expect(Set(whole).count > 20)
    }

    /// Low frequencies are kept where libjpeg takes means, so the two differ, but not by much.
    @Test(arguments: subjectsOfAllKinds, [(50, 37), (101, 75)])
    func makeNoVisibleDifferenceAtAQuarterAndAHalf(
        _ subject: Subject, _ size: (width: Int, height: Int)
    ) throws {
        let file = subject.file
        let whole = try pixels(file, size.width, size.height, skipsCoefficients: false)
        let skipped = try pixels(file, size.width, size.height, skipsCoefficients: true)
        let error = zip(whole, skipped).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
        #expect(10 * log10(255 * 255 * Double(whole.count) / max(error, 1)) > 30)
    }

    @Test func areReadOfFilesThatAreNoneOfTheirs() throws {
        let file = Subject(horizontal: 4, vertical: 1).file
        #expect(
            try pixels(file, 25, 18, skipsCoefficients: true)
                == pixels(file, 25, 18, skipsCoefficients: false))
    }

    @Test(arguments: subjects)
    func areNoExcuseForATruncatedFile(_ subject: Subject) {
        let file = Array(subject.file.dropLast(200))
        #expect(throws: CodecRefusal.self) {
            try pixels(file, 25, 18, skipsCoefficients: true)
        }
    }
}
