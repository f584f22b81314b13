import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct ImageInformationTests {
    private static let grid = PixelGrid.gradient(width: 30, height: 20)

    private static func file(_ format: ImageFormat, quality: Double = 0.8) throws -> Data {
        try encoded(grid.bitmap(channels: 4), as: format, quality: quality)
    }

    private static let size = PixelSize(30, 20)
    private static let formats: [ImageFormat] = [.JPEG, .PNG, .GIF, .WebP, .AVIF, .JPEGXL, .TIFF]

    private static func jpeg(_ block: Data) throws -> Data {
        EXIFFixture.inserted(block, into: try file(.JPEG))
    }

    private static let animation = GIFFixture.data(
        [PixelGrid.quadrants(width: 30, height: 20), .solid(.red, width: 30, height: 20)].map {
            GIFFixture.Frame($0, delay: 25)
        }, loopCount: 3)

    @Test(arguments: formats)
    func theSizeOfEveryFormatIsTold(_ format: ImageFormat) throws {
        let information = try ImageInformation(of: Self.file(format))
        #expect(information.format == format && information.size == Self.size)
        #expect(information.frameCount == 1 && information.bitsPerSample == 8)
        #expect(information.isComplete)
    }

    /// From no byte to all of them the answer changes once, from none to the right one.
    @Test(arguments: formats)
    func aPrefixTellsNothingWrong(_ format: ImageFormat) throws {
        let data = try Self.file(format)
        var isKnown = false
        for count in 0...data.count {
            if let information = try ImageInformation(ofPrefix: data.prefix(count)) {
                isKnown = true
                #expect(information.size == Self.size, "\(count) bytes")
            } else {
                #expect(!isKnown, "known before \(count) bytes")
            }
        }
        #expect(isKnown)
    }

    @Test(arguments: [(ImageFormat.PNG, 60), (.WebP, 40), (.JPEGXL, 40)])
    func fewBytesAreEnough(_ format: ImageFormat, _ count: Int) throws {
        #expect(try ImageInformation(ofPrefix: Self.file(format).prefix(count)) != nil)
    }

    @Test func windowsBitmapsAreTold() throws {
        let data = BMPFixture.data(Self.grid)
        #expect(try ImageInformation(of: data).size == Self.size)
        #expect(try ImageInformation(ofPrefix: data.prefix(60))?.size.width == 30)
    }

    /// Qualities from 0 to 1 are libjpeg's from 1 to 100.
    @Test(arguments: [(0, 1), (0.25, 26), (0.5, 51), (0.75, 75), (0.9, 90), (0.95, 95), (1, 100)])
    func theQualityOfJPEGIsTheOneItWasWrittenWith(_ quality: Double, _ level: Int) throws {
        let data = try Self.file(.JPEG, quality: quality)
        #expect(try ImageInformation(of: data).jpegQuality == level)
    }

    @Test(arguments: 1...8) func theSizeIsThatOfTheTurnedPicture(_ orientation: Int) throws {
        let information = try ImageInformation(
            of: Self.jpeg(EXIFFixture.block(orientation: orientation)))
        #expect(information.orientation == orientation)
        #expect(information.size == (orientation > 4 ? Self.size.transposed : Self.size))
    }

    @Test func nothingPrivateIsTold() throws {
        let information = try ImageInformation(of: Self.jpeg(EXIFFixture.block(orientation: 1)))
        #expect(!String(reflecting: information).contains("secret"))
        #expect(information.camera == nil)
    }

    /// A time has its difference from UTC. Spaces stand for one that is not known.
    @Test(arguments: [
        (nil, ""), ("+02:00", "+02:00"), ("-09:30", "-09:30"), ("   :  ", ""), ("2 hours", ""),
    ])
    func whatTheCameraNotedIsTold(_ offset: String?, _ difference: String) throws {
        let file = try Self.jpeg(CameraFixture.block(offset: offset))
        let camera = try #require(try ImageInformation(of: file).camera)
        #expect(camera.maker == "Halcyon" && camera.model == "Kingfisher 1")
        #expect(camera.taken == "2024-05-01T18:30:00" + difference)
        #expect(camera.exposureTime == 1.0 / 125 && camera.sensitivity == 200)
        #expect(camera.lens == nil)
    }

    @Test func whatTheCameraNotedIsToldOfJPEGXL() throws {
        let file = try JPEGXLFixture().data([0.5, 0.25, 1])
        #expect(try ImageInformation(of: file).camera == nil)
        let block = CameraFixture.block().dropFirst(6)
        let head = bigEndian(block.count + 12, 4) + Array("Exif".utf8) + [0, 0, 0, 0]
        let box = Data(head) + block
        // Behind the signature of 12 bytes and the type of 20; at the end, it may still come.
        let (early, late) = (file.prefix(32) + box + file.dropFirst(32), file + box)
        for file in [early, late] {
            let information = try ImageInformation(of: file)
            #expect(information.camera?.model == "Kingfisher 1" && information.isComplete)
        }
        let beginning = try ImageInformation(ofPrefix: late.dropLast(box.count + 1))
        #expect(beginning?.camera == nil && beginning?.isComplete == false)
    }

    @Test func anAnimationTellsItsFramesAndTimes() throws {
        let information = try ImageInformation(of: Self.animation)
        #expect(information.frameCount == 2)
        #expect(information.animation?.durations == [0.25, 0.25])
        #expect(try information.animation == EncodedImage(Self.animation).header.timing)
    }

    @Test func turnedAndCroppedSequencesOfAVIFTellWhatIsShown() throws {
        let file = try AVIFFixture(quarterTurns: 1, crop: (left: 2, top: 2, width: 20, height: 10))
            .data(Self.grid, .solid(.red, width: 30, height: 20))
        let size = PixelSize(10, 20)
        #expect(try ImageInformation(of: file).size == size)
        #expect(try decoded(file).size == size)
        let prefixes = (0...file.count).compactMap {
            try? ImageInformation(ofPrefix: file.prefix($0))?.size
        }
        #expect(Set(prefixes) == [size])
    }

    /// An edit list that repeats the track makes it run as often as it fits into the track's length.
    @Test(arguments: [(nil, 0), (1, 1), (2, 2), (5, 5)])
    func sequencesOfAVIFPlayAsOftenAsTheyTell(_ runs: Int?, _ loopCount: Int) throws {
        let file = try AVIFFixture(delay: 20, runs: runs).data(
            Self.grid, .solid(.red, width: 30, height: 20))
        let information = try ImageInformation(of: file)
        #expect(information.size == Self.size && information.frameCount == 2)
        #expect(information.animation?.durations == [0.2, 0.2])
        #expect(information.animation?.loopCount == loopCount && information.hasAlpha == false)
        let image = try Image.decoding(file)
        #expect(image.animation?.loopCount == loopCount)
        #expect(try image.allBitmaps().count == 2)
    }

    @Test func turnedAndCroppedAVIFTellsWhatIsShown() throws {
        let fixture = AVIFFixture(
            depth: 10, quarterTurns: 1, crop: (left: 2, top: 2, width: 20, height: 10),
            primaries: 12)
        let information = try ImageInformation(of: fixture.data(Self.grid))
        #expect(information.size == PixelSize(10, 20) && information.bitsPerSample == 10)
        #expect(information.colorProfile == .coded(primaries: 12, transfer: 13))
    }

    @Test func whatIsNoImageIsRefusedInWords() throws {
        #expect(throws: ImageCodingError.emptyData) { try ImageInformation(of: Data()) }
        let page = Data("<!DOCTYPE html><title>Not found</title>".utf8)
        let error = #expect(throws: ImageCodingError.self) { try ImageInformation(of: page) }
        #expect(error?.description.contains("HTML") == true)
        #expect(try ImageInformation(ofPrefix: page) == nil)
        let header = Data(try Self.file(.JPEG).prefix(20))
        #expect(throws: ImageCodingError.self) { try ImageInformation(of: header) }
    }

    @Test func aFileThatIsCutShortTellsWhatIsThere() throws {
        let information = try ImageInformation(of: Self.animation.dropLast(20))
        #expect(!information.isComplete && information.frameCount == 1)
        #expect(information.size == Self.size)
    }

    /// Any byte of a header may be wrong; what is told may be wrong then, but nothing breaks.
    @Test(arguments: formats)
    func damagedHeadersBreakNothing(_ format: ImageFormat) throws {
        let data = try Self.file(format)
        var random = SeededGenerator(state: 7)
        var told = 0
        for _ in 0..<3000 {
            var damaged = data
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<min(data.count, 400), using: &random)
                damaged[damaged.startIndex + place] =
                    [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            if (try? ImageInformation(ofPrefix: damaged)) != nil { told += 1 }
            if (try? ImageInformation(of: damaged)) != nil { told += 1 }
        }
        #expect(told > 0)
    }
}

@Suite(.enabled(if: Corpus.directory != nil))
struct ForeignInformationTests {
    static let files = ["formats", "animated", "orientation", "photos", "found"]
        .flatMap { Corpus.files(in: $0) }.filter { $0.pathExtension != "md" }

    /// What a file says is what its decoder finds.
    @Test(arguments: files) func decodersAgree(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        let limits = DecodingLimits(maximumPixelCount: nil)
        // What no decoder opens has nobody to agree with.
        guard let header = try? EncodedImage(data, limits: limits).header else { return }
        let information = try ImageInformation(of: data)
        #expect(information.format == header.format && information.size == header.size)
        #expect(information.hasAlpha == header.hasAlpha)
        #expect(information.frameCount == header.frameCount)
        if let timing = header.timing {
            let durations = try #require(information.animation?.durations)
            #expect(zip(durations, timing.durations).allSatisfy { abs($0 - $1) < 0.002 })
            #expect(durations.count == timing.durations.count)
            #expect(information.animation?.loopCount == timing.loopCount)
        }
        if header.depth == .sixteen { #expect(information.bitsPerSample ?? 0 > 8) }
    }

    @Test(arguments: files) func theBeginningTellsTheSameSize(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        guard let whole = try? ImageInformation(of: data) else { return }
        for count in [100, 1000, 10_000, 100_000] where count < data.count {
            if let information = try? ImageInformation(ofPrefix: data.prefix(count)) {
                #expect(information.size == whole.size)
            }
        }
    }

    @Test func gainMapsAreFound() throws {
        let file = try #require(Corpus.file("formats/ultra-hdr.jpg"))
        #expect(try ImageInformation(of: Data(contentsOf: file)).hasGainMap == true)
        let plain = try #require(Corpus.file("formats/TestJFIF.jpg"))
        #expect(try ImageInformation(of: Data(contentsOf: plain)).hasGainMap == false)
    }
}

struct StoredHeaderTests {
    /// As libvips tells values of EXIF; newer ones write a blank for the zero that ends a text.
    @Test(arguments: [
        ("By me (By me, ASCII, 6 components, 6 bytes)", "By me"),
        ("By me  (By me , ASCII, 6 components, 6 bytes)", "By me"),
        ("Cam (x)  (Cam (x) , ASCII, 8 components, 8 bytes)", "Cam (x)"),
        ("28/10 (f/2.8, Rational, 1 components, 8 bytes)", "28/10"),
        ("1 (Top-left, Short, 1 components, 2 bytes)", "1"),
    ])
    func valuesOfEXIFAreReadWithoutTheirEndings(_ text: String, _ value: String) {
        #expect(StoredHeader.value(in: text) == value)
    }
}
