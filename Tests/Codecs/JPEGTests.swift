import CoefficientJPEGTestKit
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

    @Test(arguments: [false, true]) func fastIsNearEnough(_ isProgressive: Bool) throws {
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
        #expect(denominator(101, 75, isFast: true) == 8 && denominator(102, 75, isFast: true) == 4)
        #expect(denominator(101, 75, isFast: false) == 2 && denominator(50, 37, isFast: false) == 8)
        #expect(denominator(500, 10, isFast: true) == 1)
        #expect(denominator(900, 900, isFast: false) == 1)
    }

    @Test(arguments: [false, true]) func keepsAFlatGrey(_ isProgressive: Bool) throws {
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

struct JPEGHeaderTests {
    private let file: Data

    init() throws { file = try JPEGFixture(width: 37, height: 21).jpeg() }

    @Test(arguments: [false, true]) func tellsSizeAndProcess(_ isProgressive: Bool) throws {
        let file = try JPEGFixture(width: 37, height: 21).jpeg(isProgressive: isProgressive)
        let header = try #require(file.jpegHeader)
        #expect(header.width == 37 && header.height == 21)
        #expect(!header.isGrey && header.isProgressive == isProgressive)
        #expect(header.orientation == 1 && header.profile == nil)
    }

    /// A little-endian block of EXIF data with one entry.
    private static func exif(tag: UInt8) -> [UInt8] {
        let entry: [UInt8] = [tag, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        return Array("Exif\0\0II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0] + entry + [0, 0, 0, 0]
    }

    @Test(arguments: [(UInt8(0x0F), 1), (0x12, 6)])
    func takesEXIFWithoutOrientationAsUpright(_ tag: UInt8, _ orientation: Int) {
        #expect(file.inserting(0xE1, Self.exif(tag: tag)).jpegHeader?.orientation == orientation)
    }

    @Test func leavesOddEXIFToOthers() {
        let block = Self.exif(tag: 0x12)
        for odd in [Array(block.prefix(16)), Array("Exif".utf8)] {
            #expect(file.inserting(0xE1, odd).jpegHeader == nil)
        }
        #expect(file.inserting(0xE1, block).inserting(0xE1, block).jpegHeader == nil)
    }

    private static func chunk(_ number: UInt8, _ total: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        Array("ICC_PROFILE\0".utf8) + [number, total] + bytes
    }

    @Test func joinsTheChunksOfAProfile() {
        let file = file.inserting(0xE2, Self.chunk(1, 2, [1, 2, 3]))
            .inserting(0xE2, Self.chunk(2, 2, [4, 5]))
        #expect(file.jpegHeader?.profile == [1, 2, 3, 4, 5])
    }

    @Test func leavesIncompleteProfilesToOthers() {
        for (number, total) in [(1, 2), (0, 1), (2, 1)] as [(UInt8, UInt8)] {
            #expect(file.inserting(0xE2, Self.chunk(number, total, [1])).jpegHeader == nil)
        }
        let one = Self.chunk(1, 1, [1])
        #expect(file.inserting(0xE2, one).inserting(0xE2, one).jpegHeader == nil)
    }

    @Test func leavesUnusualFramesToOthers() throws {
        let frame = try #require(file.place(of: 0xC0))
        // Other processes: arithmetic coding, lossless, hierarchical.
        let codes: [[(Int, UInt8)]] = [0xC3, 0xC5, 0xC9, 0xCA, 0xF7].map { [(0, $0)] }
        // 12 bits; no height; four components; luminance coarser than chroma; no sampling at all.
        let others: [[(Int, UInt8)]] = [
            [(3, 12)], [(4, 0), (5, 0)], [(8, 4)], [(10, 0x11), (13, 0x22)], [(10, 0)],
            [(10, 0x55)],
        ]
        for changes in codes + others {
            var other = file
            for (offset, value) in changes { other[frame + offset] = value }
            #expect(other.jpegHeader == nil)
        }
    }

    @Test func leavesOtherColoursToOthers() throws {
        let transform: [UInt8] = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]
        #expect(file.inserting(0xEE, transform).jpegHeader == nil)
        let ycc: [UInt8] = transform.dropLast() + [1]
        #expect(file.inserting(0xEE, ycc).jpegHeader != nil)
        // Without a JFIF segment the names of the components tell RGB.
        let start = try #require(file.place(of: 0xE0))
        var bare = Data(file.prefix(2) + file.dropFirst(start + 1 + 16))
        #expect(bare.jpegHeader != nil)
        let frame = try #require(bare.place(of: 0xC0))
        for (index, name) in "RGB".utf8.enumerated() { bare[frame + 9 + 3 * index] = name }
        #expect(bare.jpegHeader == nil)
    }

    @Test func leavesFilesThatAreCutShortToOthers() throws {
        let scan = try #require(file.place(of: 0xDA))
        for length in 0..<scan { #expect(file.prefix(length).jpegHeader == nil) }
    }

    /// As libjpeg passes over them.
    @Test(arguments: [[0], [0xFF], [0, 0, 0], [1, 2, 0xFF, 0, 3], [0xFF, 0xFF]] as [[UInt8]])
    func passesOverBytesBetweenSegments(_ filler: [UInt8]) throws {
        let table = try #require(file.place(of: 0xDB))
        for place in [2, table - 1] {
            var padded = file
            padded.insert(contentsOf: filler, at: place)
            #expect(padded.jpegHeader == file.jpegHeader)
            #expect(try padded.jpegPixels() == file.jpegPixels())
        }
    }
}

struct JPEGDamageTests {
    private static let size = (width: 83, height: 61)

    private static func file(isProgressive: Bool) throws -> Data {
        try JPEGFixture(width: size.width, height: size.height).jpeg(
            quality: 60, isProgressive: isProgressive)
    }

    /// Everything that can be asked of a file: each either gives pixels or throws.
    private static func outcomes(_ file: Data) -> [Bool] {
        let work: [() throws -> [UInt8]] = [
            { try file.jpegPixels() }, { try file.jpegPixels(denominator: 2) },
            { try file.jpegPixels(20, 15) }, { try file.jpegPixels(20, 15, isFast: true) },
            { try file.jpegPixels(10, 7, isFast: true) }, { try file.jpegPixels(5, 3) },
        ]
        return work.map { (try? $0()) != nil }
    }

    @Test(arguments: [false, true]) func refusesFilesThatAreCutShort(_ isProgressive: Bool) throws {
        let file = try Self.file(isProgressive: isProgressive)
        #expect(Self.outcomes(file).allSatisfy { $0 })
        for length in stride(from: 0, to: file.count - 2, by: 41) {
            let cut = Data(file.prefix(length))
            #expect(Self.outcomes(cut).allSatisfy { !$0 }, "\(length) of \(file.count)")
        }
    }

    @Test(arguments: [false, true]) func survivesAnyBytes(_ isProgressive: Bool) throws {
        let file = try Self.file(isProgressive: isProgressive)
        var noise = Noise(isProgressive ? 7 : 8)
        for _ in 0..<60 {
            var damaged = file
            for _ in 0...Int.random(in: 0..<3, using: &noise) {
                // A flipped header would mostly be another size.
                damaged[Int.random(in: 0..<damaged.count, using: &noise)] = noise.bytes(1)[0]
            }
            guard let header = damaged.jpegHeader, header.width * header.height < 1 << 20 else {
                continue
            }
            _ = Self.outcomes(damaged)
        }
    }

    @Test func refusesAHeaderThatContradictsTheFile() throws {
        let small = try Self.file(isProgressive: false)
        let large = try #require(try JPEGFixture(width: 90, height: 61).jpeg().jpegHeader)
        var pixels = [UInt8](repeating: 0, count: 90 * 61 * 3)
        #expect(throws: CodecRefusal.damaged("Its headers contradict each other")) {
            try small.withUnsafeBytes {
                try JPEGReader.read($0, header: large, denominator: 1, into: &pixels)
            }
        }
    }
}

struct JPEGWriterTests {
    private let fixture = JPEGFixture(width: 61, height: 43)

    private func write(_ pixels: [UInt8], channels: Int, quality: Int = 90) throws -> Data {
        try JPEGWriter.write(
            pixels, width: fixture.width, height: fixture.height, channels: channels,
            options: JPEGWriter.Options(quality: quality, halvesChroma: false))
    }

    private func meanDifference(_ a: [UInt8], _ b: [UInt8]) -> Double {
        Double(zip(a, b).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(a.count)
    }

    @Test func writesWhatIsReadAgain() throws {
        let file = try write(fixture.pixels, channels: 3, quality: 98)
        #expect(meanDifference(try file.jpegPixels(), fixture.pixels) < 2)
    }

    @Test func writesMoreBytesForBetterQuality() throws {
        let sizes = try [1, 30, 60, 90, 100].map {
            try write(fixture.pixels, channels: 3, quality: $0).count
        }
        #expect(sizes == sizes.sorted())
        #expect(JPEGWriter.Options(quality: -5).quality == 1)
        #expect(JPEGWriter.Options(quality: 500).quality == 100)
    }

    @Test func halvesChromaBelowQuality90() throws {
        for (quality, factors) in [(89, UInt8(0x22)), (90, 0x11)] {
            let file = try JPEGWriter.write(
                fixture.pixels, width: 61, height: 43, channels: 3,
                options: JPEGWriter.Options(quality: quality))
            let frame = try #require(file.place(of: 0xC0))
            #expect(file[frame + 10] == factors)
        }
    }

    @Test func showsTheSameWhetherProgressiveOrNot() throws {
        let progressive = try fixture.jpeg(isProgressive: true)
        #expect(progressive.jpegHeader?.isProgressive == true)
        #expect(try progressive.jpegPixels() == fixture.jpeg().jpegPixels())
    }

    @Test func putsTransparentPixelsOnWhite() throws {
        let opaque = stride(from: 0, to: fixture.pixels.count, by: 3).flatMap {
            fixture.pixels[$0..<$0 + 3] + [255]
        }
        #expect(try write(opaque, channels: 4) == write(fixture.pixels, channels: 3))
        // A fifth of the colour and four fifths of white.
        let half = (0..<61 * 43).flatMap { _ -> [UInt8] in [100, 0, 200, 51] }
        let flat = (0..<61 * 43).flatMap { _ -> [UInt8] in [224, 204, 244] }
        #expect(try write(half, channels: 4) == write(flat, channels: 3))
    }

    @Test func saysWhatCannotBeWritten() {
        let row = [UInt8](repeating: 0, count: 70_000 * 3)
        #expect(throws: CodecRefusal.self) {
            try JPEGWriter.write(
                row, width: 70_000, height: 1, channels: 3, options: .init(quality: 80))
        }
    }
}

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
