import CCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct ProgressiveJPEGDecoderTests {
    private let fixture: ProgressiveFixture

    init() throws { fixture = try ProgressiveFixture() }

    private func makeDecoder(_ limits: DecodingLimits = .default) throws -> ProgressiveJPEGDecoder {
        try ProgressiveJPEGDecoder(limits: limits)
    }

    /// Feeds `data` in pieces, decodes each scan that is to be had and tells of it.
    private func feed(
        _ data: Data, to decoder: ProgressiveJPEGDecoder, pieces: Int,
        of scans: KeyPath<ProgressiveJPEGDecoder, Int> = \.completeScanCount,
        decoded: () throws -> Void
    ) throws {
        for start in stride(from: 0, to: data.count, by: pieces) {
            try decoder.feed(data[start..<min(data.count, start + pieces)])
            while decoder.decodedScanCount < decoder[keyPath: scans] {
                try decoder.decode(upTo: decoder.decodedScanCount + 1)
                try decoded()
            }
        }
    }

    /// The picture after each scan, decoded by one decoder as the bytes come.
    private func pictures(_ fixture: ProgressiveFixture, pieces: Int) throws -> [Bitmap] {
        let decoder = try makeDecoder()
        var pictures: [Bitmap] = []
        try feed(fixture.data, to: decoder, pieces: pieces) {
            pictures.append(try decoder.bitmap())
        }
        #expect(decoder.receivedCount == fixture.data.count)
        // Each byte was decoded once, up to the end of the image.
        #expect(decoder.decodedCount == fixture.scanEnds.last && decoder.isAtEnd)
        return pictures
    }

    @Test(arguments: [(3, 1), (3, 100), (3, 1_000_000), (1, 33)])
    func makesThePictureOfEachScanThatADecoderOfTheWholePrefixMakes(_ bands: Int, _ pieces: Int)
        throws
    {
        let fixture = try ProgressiveFixture(bands: bands)
        let pictures = try pictures(fixture, pieces: pieces)
        #expect(pictures.count == fixture.scanCount && pictures.count == (bands == 1 ? 6 : 10))
        for (index, picture) in pictures.enumerated() {
            #expect(try picture.data == fixture.picture(index + 1).data, "scan \(index + 1)")
        }
        #expect(try pictures.last?.data == decoded(fixture.data).data)
    }

    @Test func hasNothingToShowBeforeASecondScan() throws {
        let decoder = try makeDecoder()
        #expect(try decoder.feed(fixture.prefix(1).dropLast()) == 0)
        #expect(decoder.completeScanCount == 0)
        #expect(throws: ImageCodingError.self) { try decoder.bitmap() }
        #expect(try decoder.feed(Data([0xDA])) == 1)
        try decoder.decode(upTo: 1)
        #expect(try decoder.bitmap().size == PixelSize(width: 90, height: 70))
    }

    @Test(arguments: 1...8)
    func turnsThePictureUpright(_ orientation: Int) throws {
        let plain = try ProgressiveFixture(width: 48, height: 30).data
        let fixture = ProgressiveFixture(
            EXIFFixture.inserted(EXIFFixture.block(orientation: orientation), into: plain))
        let pictures = try pictures(fixture, pieces: 1000)
        #expect(try pictures.last?.data == decoded(fixture.data).data)
        let size = PixelSize(width: 48, height: 30)
        #expect(pictures.first?.size == (orientation >= 5 ? size.transposed : size))
    }

    @Test(arguments: ["p3", "srgb"])
    func convertsColoursByTheProfile(_ profile: String) throws {
        let fixture = try ProgressiveFixture(fields: ["profile": .string(profile)])
        let pictures = try pictures(fixture, pieces: 1000)
        for scan in [1, fixture.scanCount] {
            #expect(try pictures[scan - 1].data == fixture.picture(scan).data)
        }
    }

    @Test func refusesOtherFilesAndColours() throws {
        let baseline = try encoded(.gradient(40, 30), as: .JPEG)
        #expect(throws: ImageCodingError.self) { try makeDecoder().feed(baseline) }
        let cmyk = try ProgressiveFixture(bands: 4)
        let decoder = try makeDecoder()
        #expect(try decoder.feed(cmyk.data) == cmyk.scanCount)
        #expect(throws: ImageCodingError.self) { try decoder.decode(upTo: 1) }
    }

    @Test func refusesTooManyPixelsAndTooManyScans() throws {
        let decoder = try makeDecoder(DecodingLimits(maximumPixelCount: 90 * 70 - 1))
        try decoder.feed(fixture.data)
        for scan in 1...2 {
            #expect(throws: ImageCodingError.self) { try decoder.decode(upTo: scan) }
        }
        let roomy = try makeDecoder(DecodingLimits(maximumPixelCount: 90 * 70))
        try roomy.feed(fixture.data)
        try roomy.decode(upTo: 1)
        let last = fixture.data[(fixture.scanEnds[8] - 2)..<(fixture.data.count - 2)]
        var bomb = fixture.data.dropLast(2)
        for _ in 0..<95 { bomb += last }
        #expect(throws: ImageCodingError.self) { try makeDecoder().feed(bomb) }
    }

    /// Decodes what it can of bytes in pieces and makes all pictures; any error will do.
    private func survive(_ data: Data) throws {
        let decoder = try makeDecoder(DecodingLimits(maximumPixelCount: 1_000_000))
        do {
            try feed(data, to: decoder, pieces: 777) { _ = try decoder.bitmap() }
        } catch is ImageCodingError {
            #expect(throws: (any Error).self) {
                // What has failed stays so.
                try decoder.feed(Data([0xFF, 0xD8]))
                try decoder.decode(upTo: decoder.completeScanCount)
                throw ImageCodingError.emptyData
            }
        } catch is VipsError {
            // The header was damaged.
        }
        #expect(decoder.decodedCount <= decoder.receivedCount)
    }

    @Test func survivesAnyDamage() throws {
        let fixture = try ProgressiveFixture(width: 40, height: 33)
        var numbers = SeededGenerator(state: 3)
        for _ in 0..<400 {
            var data = fixture.data
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let index = Int.random(in: 0..<data.count, using: &numbers)
                data[index] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
            }
            try survive(data)
        }
        for index in 2..<min(fixture.scanEnds[0], 400) {
            var data = fixture.data
            data[index] = UInt8.random(in: 0...255, using: &numbers)
            try survive(data)
        }
    }

    @Test func survivesTruncationAndNoise() throws {
        let fixture = try ProgressiveFixture(width: 40, height: 33)
        for count in stride(from: 0, to: fixture.data.count, by: 41) {
            let beginning = fixture.data.prefix(count)
            try survive(beginning)
            try survive(beginning + fixture.data.dropFirst(count + 100))
        }
        var numbers = SeededGenerator(state: 9)
        for _ in 0..<50 {
            let noise = Data((0..<2000).map { _ in UInt8.random(in: 0...255, using: &numbers) })
            try survive(noise)
            try survive(fixture.prefix(2) + noise)
            try survive(fixture.prefix(1).prefix(200) + noise)
        }
    }

    /// Feeds `data` in pieces of 64 bytes and makes each picture that is to be had.
    private func picturesOfPieces(_ data: Data) throws -> Int {
        let decoder = try makeDecoder()
        var pictures = 0
        try feed(data, to: decoder, pieces: 64, of: \.followedScanCount) {
            _ = try decoder.bitmap()
            pictures += 1
        }
        return pictures
    }

    @Test(arguments: [0, 1, 70, 0xFFFF] as [UInt16])
    func makesNoPictureOfAFileThatHidesASecondFrame(_ height: UInt16) throws {
        #expect(try picturesOfPieces(fixture.data) == fixture.scanCount - 1)
        #expect(try picturesOfPieces(fixture.hidingASecondFrame(height: height)) == 0)
    }

    @Test(arguments: Corpus.files(in: "found").filter { $0.path.contains("second-frame") })
    func makesNoPictureOfRealFilesThatHideASecondFrame(_ file: URL) throws {
        #expect(try picturesOfPieces(Data(contentsOf: file)) == 0)
    }

    @Test(arguments: [0, 1, 70, 0xFFFF] as [UInt16])
    func theCoreFailsAtASecondFrameBeforeItIsComplete(_ height: UInt16) throws {
        let data = try fixture.hidingASecondFrame(height: height)
        let scan = try #require(data.firstRange(of: [0xFF, 0x02, 0, 9] as [UInt8]))
        // Up to the mark of the scan behind it, which stands where a frame header has its width.
        let prefix = Array(data[..<(scan.upperBound + 9)])
        try expectCore(CJPEG_FAILED, of: prefix, reads: false, missing: 0)
    }

    /// Expects what the core says at the end of a picture's bytes, and whether it gives pixels to who has
    /// room for all of them but some bytes.
    private func expectCore(
        _ state: cjpeg_state, of bytes: [UInt8], reads isRead: Bool, missing: Int
    ) throws {
        let decoder = try #require(cjpeg_create())
        defer { cjpeg_destroy(decoder) }
        var consumed = 0
        #expect(cjpeg_consume(decoder, bytes, bytes.count, &consumed) == CJPEG_HEADER_READ)
        let rest = Array(bytes[consumed...])
        #expect(cjpeg_consume(decoder, rest, rest.count, &consumed) == state)
        #expect(cjpeg_get_header(decoder).width == 90)
        var pixels = [UInt8](repeating: 0, count: 90 * 70 * 3)
        #expect(cjpeg_read(decoder, &pixels, pixels.count - missing) == isRead)
    }

    @Test(arguments: [(1, false), (0, true)])
    func theCoreWritesNoMoreThanThereIsRoomFor(missing: Int, isRead: Bool) throws {
        try expectCore(CJPEG_ENDED, of: Array(fixture.data), reads: isRead, missing: missing)
    }

    @Test(arguments: ["formats/progressive.jpeg", "formats/tricky_progressive.jpeg"])
    func showsRealFiles(_ path: String) throws {
        guard let file = Corpus.file(path) else { return }
        let fixture = ProgressiveFixture(try Data(contentsOf: file))
        let decoder = try makeDecoder()
        try decoder.feed(fixture.data)
        #expect(decoder.completeScanCount == fixture.scanCount)
        try decoder.decode(upTo: 2)
        #expect(try decoder.bitmap().data == fixture.picture(2).data)
        try decoder.decode(upTo: fixture.scanCount)
        #expect(try decoder.bitmap().data == decoded(fixture.data).data)
    }
}
