import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct JPEGDecoderTests {
    private static func file(
        _ bitmap: Bitmap, profile: Data? = nil, _ options: [String: VipsValue] = [:]
    ) throws -> Data {
        var image = try bitmap.vipsImage()
        if let profile { image = try image.settingMetadata([("icc-profile-data", .blob(profile))]) }
        return try image.encoded("jpegsave_buffer", options)
    }

    @Test func readsOrdinaryFilesItself() throws {
        let bitmap = try Bitmap.gradient(40, 30)
        let files = try [
            Self.file(bitmap), Self.file(bitmap, ["interlace": true]),
            bitmap.vipsImage().converted(to: .bw).encoded("jpegsave_buffer"),
            Self.file(bitmap, profile: iccProfile("srgb")),
        ]
        for file in files { #expect(try EncodedImage(file).opened is OpenedJPEG) }
    }

    @Test func leavesColoursOfPrintToLibvips() throws {
        let bitmap = try Bitmap.gradient(40, 30)
        let cmyk = try bitmap.vipsImage().converted(to: .cmyk).encoded("jpegsave_buffer")
        let encoded = try EncodedImage(cmyk)
        #expect(encoded.opened is OpenedByVips)
        #expect(try Recipe(encoded: encoded).render(frame: 0).size == bitmap.size)
    }

    @Test(arguments: [false, true])
    func givesThePixelsThatLibvipsGives(_ isProgressive: Bool) throws {
        var options: [String: VipsValue] = ["interlace": .bool(isProgressive), "Q": 90]
        for (width, height) in [(64, 48), (37, 21), (1, 1)] {
            for subsampling in ["on", "off"] {
                options["subsample_mode"] = .string(subsampling)
                let data = try Self.file(.gradient(width, height), options)
                #expect(JPEGFrame(data)?.isProgressive == isProgressive)
                #expect(try decoded(data).data == decodedByVips(data).data)
            }
        }
        let grey = try Bitmap.gradient(33, 20).vipsImage().converted(to: .bw)
            .encoded("jpegsave_buffer", ["interlace": .bool(isProgressive)])
        #expect(JPEGFrame(grey)?.componentCount == 1)
        let bitmap = try decoded(grey)
        #expect(try bitmap.channels == 3 && bitmap.data == decodedByVips(grey).data)
    }

    @Test(
        arguments: ["formats", "orientation", "photos"].flatMap { Corpus.files(in: $0) }
            .filter { ["jpg", "jpeg"].contains($0.pathExtension) })
    func givesThePixelsThatLibvipsGivesOfRealFiles(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        let expected = try decodedByVips(data)
        let found = try decoded(data)
        #expect(found.size == expected.size)
        let profile = try VipsImage.load("jpegload_buffer", bytes: data).blob("icc-profile-data")
        if ForeignProfile(profile.map { [UInt8]($0) }, channels: 3)?.isQuick == true {
            // Colours of a display are converted by the same formulas, rounded in other places.
            let (samples, others) = ([UInt8](found.data), [UInt8](expected.data))
            var (greatest, sum, index) = (0, 0, 0)
            while index < samples.count {
                let difference = abs(Int(samples[index]) - Int(others[index]))
                (greatest, sum) = (max(greatest, difference), sum + difference)
                index += 1
            }
            #expect(greatest <= 3)
            #expect(Double(sum) <= 0.4 * Double(samples.count))
        } else {
            // Not compared in the expectation, which would describe millions of bytes.
            let isEqual = found.data == expected.data
            #expect(isEqual)
        }
    }

    @Test(arguments: 1...8)
    func turnsPicturesOfAnySize(_ orientation: Int) throws {
        let stored = try Self.file(.gradient(96, 64), ["Q": 95, "strip": true])
        let data = EXIFFixture.turned(stored, orientation)
        #expect(try EncodedImage(data).opened is OpenedJPEG)
        let full = try decoded(data)
        #expect(try full.data == decodedByVips(data).data)
        let target = PixelSize(full.size.width * 3 / 8, full.size.height * 3 / 8)
        let expected = try Bitmap(
            rendering: full.vipsImage().resized(to: target.width, height: target.height))
        for quality in DownsamplingQuality.allCases {
            let small = try Image.decoding(data).kf
                .downsampled(toPixels: target, quality: quality).bitmap()
            #expect(try small.meanDifference(from: expected) < 1.5)
        }
    }

    @Test(arguments: [(202, 150), (101, 76), (60, 45), (25, 18), (2, 1), (1, 1)])
    func deliversExactlyTheSizeThatIsAskedFor(_ width: Int, _ height: Int) throws {
        let encoded = try EncodedImage(Self.file(.gradient(203, 151)))
        for quality in DownsamplingQuality.allCases {
            let reduction = Reduction(size: PixelSize(width, height), quality: quality)
            let pixels = try encoded.opened.decode(frame: 0, .exactly(reduction))
            guard case .bitmap(let bitmap) = pixels else {
                Issue.record("no bitmap of \(width)×\(height)")
                continue
            }
            #expect(bitmap.size == reduction.size && bitmap.channels == 3)
        }
    }

    @Test(arguments: DownsamplingQuality.allCases)
    func goesOnWithTheStepsBehindAReduction(_ quality: DownsamplingQuality) throws {
        let data = try Self.file(.gradient(200, 150))
        let small = DownsamplingImageProcessor(
            size: CGSize(width: 50, height: 50), quality: quality)
        let chain = small |> CroppingImageProcessor(size: CGSize(width: 20, height: 10))
        let whole = try #require(small.process(item: .data(data), options: .scale(1))).bitmap()
        let part = try #require(chain.process(item: .data(data), options: .scale(1))).bitmap()
        #expect(whole.size == PixelSize(50, 38))
        let expected = try Bitmap(
            rendering: whole.vipsImage().cropped(left: 15, top: 14, width: 20, height: 10))
        #expect(part.size == PixelSize(20, 10) && part.data == expected.data)
    }

    @Test(arguments: [(200, 203), (102, 102), (60, 102), (51, 51), (26, 26), (1, 26)])
    func deliversHalvesQuartersAndEighthsWithoutATarget(_ side: Int, _ expected: Int) throws {
        let encoded = try EncodedImage(Self.file(.gradient(203, 151)))
        let pixels = try encoded.decode(frame: 0, atLeast: PixelSize(side, 1))
        #expect(try Bitmap(rendering: pixels.pipeline()).size.width == expected)
    }

    @Test func refusesFilesThatAreCutShortAtAnySize() throws {
        let data = try Self.file(.gradient(200, 150))
        let cut = Data(data.prefix(data.count * 3 / 4))
        #expect(throws: ImageCodingError.self) { try decoded(cut, at: PixelSize(60, 45)) }
        let damage = ImageCodingError.corrupt(.JPEG, reason: "Premature end of JPEG file")
        #expect(throws: damage) { try decoded(cut) }
    }

    @Test func namesOnlyTheQualityThatIsNotTheUsualOne() {
        let size = CGSize(width: 30, height: 20)
        #expect(DownsamplingImageProcessor(size: size).quality == .best)
        let fast = DownsamplingImageProcessor(size: size, quality: .fast)
        #expect(fast.identifier.hasSuffix("DownsamplingImageProcessor((30.0, 20.0), fast)"))
    }

    @Test func canBeSwitchedOffOnlyWhereItIsSupported() {
        // What is set here is what is set already: other tests run beside this one.
        DirectCoding.formats = DirectCoding.supportedFormats.union([.SVG])
        #expect(DirectCoding.formats == DirectCoding.supportedFormats)
        #expect(DirectCoding.supportedFormats.contains(.JPEG))
        #expect(!ImageDecoder.jpeg.canDecode(.PNG))
    }

    @Test func isSwitchedOffByTheOptionsOfAnImage() throws {
        let data = try Self.file(.gradient(40, 30))
        let options = ImageCreatingOptions.byVips
        #expect(try EncodedImage(data, coding: options.coding).opened is OpenedByVips)
        #expect(ImageCreatingOptions().coding == .current)
        #expect(options != ImageCreatingOptions())
        #expect(try Image.decoding(data, options: options).bitmap().data == decoded(data).data)
    }
}

struct JPEGEncoderTests {
    @Test(arguments: [0.3, 0.8, 0.9, 1])
    func writesThePixelsThatLibvipsWrites(_ quality: CGFloat) throws {
        for channels in [3, 4] {
            let bitmap = try Bitmap.gradient(71, 43, channels: channels)
            let options = ImageEncodingOptions(quality: quality)
            let ours = try #require(try JPEGEncoder.encode([bitmap], options: options))
            let theirs = try VipsEncoder.encode(
                [bitmap], timing: nil, as: .JPEG, options: options)
            #expect(abs(ours.count - theirs.count) * 100 <= theirs.count * 3)
            // Transparent pixels on white may be rounded otherwise before they are coded.
            let limit = channels == 3 ? 0.0 : 1.5
            #expect(try decoded(ours).meanDifference(from: decoded(theirs)) <= limit)
        }
    }

    @Test func writesTheUpperHalfOfSixteenBits() throws {
        // Native order is little-endian on all machines there are.
        let samples = (0..<600).map { (UInt8(truncatingIfNeeded: $0 * 37), UInt8($0 % 20 * 12)) }
        let deep = try Bitmap.deep(20, 10, Data(samples.flatMap { [$0.0, $0.1] }))
        let plain = try #require(
            Bitmap(pixels: Data(samples.map { $0.1 }), size: deep.size, channels: 3))
        #expect(try encoded(deep, as: .JPEG) == encoded(plain, as: .JPEG))
    }
}
