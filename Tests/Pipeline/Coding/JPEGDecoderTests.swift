import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct JPEGDecoderTests {
    private static func profile(_ name: String) throws -> Data {
        var operation = VipsOperation("profile_load")
        operation.set("name", .string(name))
        return try operation.run().blob("profile")
    }

    private static func file(
        _ bitmap: Bitmap, profile: Data? = nil, _ options: [String: VipsValue] = [:]
    ) throws -> Data {
        var image = try bitmap.vipsImage()
        if let profile {
            image = try image.settingMetadata([("icc-profile-data", .blob(profile))])
        }
        return try image.encoded("jpegsave_buffer", options)
    }

    /// What libvips makes of a file.
    private static func reference(_ data: Data) throws -> Bitmap {
        try Recipe(encoded: EncodedImage(data, decoder: VipsDecoder())).render(frame: 0)
    }

    @Test func readsOrdinaryFilesItself() throws {
        let bitmap = try Bitmap.gradient(40, 30)
        let grey = try bitmap.vipsImage().converted(to: .bw).encoded("jpegsave_buffer")
        let files = try [
            Self.file(bitmap), Self.file(bitmap, ["interlace": true]), grey,
            Self.file(bitmap, profile: Self.profile("srgb")),
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

    /// A picture with all kinds of details, in Display P3. What is expected is made by libvips: all pixels
    /// decoded, resampled, then converted. (Converted first, colours beyond sRGB are cut off one by one.)
    @Test(arguments: [50, 100, 333])
    func reducesWideGamutFilesFinely(_ side: Int) throws {
        let bitmap = try Bitmap.drawn(800, 800) { x, y in
            let (u, v) = (Double(x) / 800, Double(y) / 800)
            let rings = cos((u * u + v * v) * 300)
            let stripes = (x / 37 + y / 23) % 3 == 0 ? 60.0 : 0
            return [
                UInt8(110 + 70 * rings + stripes), UInt8(90 + 80 * u * sin(v * 90) + stripes),
                UInt8(40 + 120 * v),
            ]
        }
        let data = try Self.file(
            bitmap, profile: Self.profile("p3"), ["Q": 95, "subsample_mode": "off"])
        let full = try VipsImage.load("jpegload_buffer", bytes: data)
        let expected = try Bitmap(
            rendering: full.resized(to: side, height: side).convertedToSRGB())
        let processor = DownsamplingImageProcessor(size: CGSize(width: side, height: side))
        let image = try #require(
            processor.process(item: .data(data), options: .scale(1)))
        let quality = try image.bitmap().peakSignalToNoise(expected)
        #expect(quality >= 45)
        // Nothing beside that is lost by the colours: those of the plain file, converted with 16 bits.
        let plain = try processor.process(
            item: .data(Self.file(bitmap, ["Q": 95, "subsample_mode": "off"])),
            options: .scale(1))
        let converted = try #require(plain).bitmap().vipsImage()
            .settingMetadata([("icc-profile-data", .blob(Self.profile("p3")))])
            .resampledFinelyToSRGB(side, side)
        #expect(try image.bitmap().peakSignalToNoise(converted) >= 50)
    }

    @Test(arguments: [false, true])
    func givesThePixelsThatLibvipsGives(_ isProgressive: Bool) throws {
        for (width, height) in [(64, 48), (37, 21), (1, 1)] {
            for subsampling in ["on", "off"] {
                let data = try Self.file(
                    .gradient(width, height),
                    [
                        "interlace": .bool(isProgressive), "Q": 90,
                        "subsample_mode": .string(subsampling),
                    ])
                #expect(try decoded(data).data == Self.reference(data).data)
            }
        }
        let grey = try Bitmap.gradient(33, 20).vipsImage().converted(to: .bw)
            .encoded("jpegsave_buffer", ["interlace": .bool(isProgressive)])
        #expect(try decoded(grey).data == Self.reference(grey).data)
    }

    @Test(
        arguments: ["formats", "orientation", "photos"].flatMap { Corpus.files(in: $0) }
            .filter { ["jpg", "jpeg"].contains($0.pathExtension) })
    func givesThePixelsThatLibvipsGivesOfRealFiles(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        let expected = try Self.reference(data)
        let found = try decoded(data)
        #expect(found.size == expected.size)
        let profile = try VipsImage.load("jpegload_buffer", bytes: data).blob("icc-profile-data")
        if ForeignProfile(profile.map { [UInt8]($0) }, channels: 3)?.isQuick == true {
            // Colours of a display are converted by the same formulas, rounded in other places.
            let (greatest, sum) = found.data.withUnsafeBytes { found in
                expected.data.withUnsafeBytes { expected in
                    found.indices.reduce(into: (greatest: 0, sum: 0)) { result, index in
                        let difference = abs(Int(found[index]) - Int(expected[index]))
                        result.greatest = max(result.greatest, difference)
                        result.sum += difference
                    }
                }
            }
            #expect(greatest <= 3)
            #expect(Double(sum) <= 0.4 * Double(found.data.count))
        } else {
            // Not compared in the expectation, which would describe millions of bytes.
            let isEqual = found.data == expected.data
            #expect(isEqual)
        }
    }

    @Test(arguments: 1...8)
    func turnsPicturesOfAnySize(_ orientation: Int) throws {
        let stored = try Self.file(.gradient(96, 64), ["Q": 95, "strip": true])
        let data = EXIFFixture.inserted(EXIFFixture.block(orientation: orientation), into: stored)
        #expect(try EncodedImage(data).opened is OpenedJPEG)
        let full = try decoded(data)
        #expect(try full.data == Self.reference(data).data)
        let target = PixelSize(width: full.size.width * 3 / 8, height: full.size.height * 3 / 8)
        for quality in DownsamplingQuality.allCases {
            let small = try Image.decoding(data).kf
                .downsampled(toPixels: target, quality: quality).bitmap()
            let expected = try Bitmap(
                rendering: full.vipsImage().resized(to: target.width, height: target.height))
            #expect(try small.meanDifference(from: expected) < 1.5)
        }
    }

    @Test func deliversExactlyTheSizeThatIsAskedFor() throws {
        let data = try Self.file(.gradient(203, 151))
        let encoded = try EncodedImage(data)
        for (width, height) in [(202, 150), (101, 76), (60, 45), (25, 18), (2, 1), (1, 1)] {
            for quality in DownsamplingQuality.allCases {
                let size = PixelSize(width: width, height: height)
                let pixels = try encoded.opened.decode(
                    frame: 0, .exactly(Reduction(size: size, quality: quality)))
                guard case .bitmap(let bitmap) = pixels else {
                    Issue.record("no bitmap of \(width)×\(height)")
                    continue
                }
                #expect(bitmap.size == size)
                #expect(bitmap.channels == 3)
            }
        }
    }

    @Test(arguments: DownsamplingQuality.allCases)
    func goesOnWithTheStepsBehindAReduction(_ quality: DownsamplingQuality) throws {
        let data = try Self.file(.gradient(200, 150))
        let small = DownsamplingImageProcessor(
            size: CGSize(width: 50, height: 50), quality: quality)
        let chain = small |> CroppingImageProcessor(size: CGSize(width: 20, height: 10))
        let options = KingfisherParsedOptionsInfo(nil)
        let whole = try #require(small.process(item: .data(data), options: options)).bitmap()
        let part = try #require(chain.process(item: .data(data), options: options)).bitmap()
        #expect(whole.size == PixelSize(width: 50, height: 38))
        #expect(part.size == PixelSize(width: 20, height: 10))
        let expected = try Bitmap(
            rendering: whole.vipsImage().apply(
                "extract_area", ["left": 15, "top": 14, "width": 20, "height": 10]))
        #expect(part.data == expected.data)
    }

    @Test func deliversHalvesQuartersAndEighthsWithoutATarget() throws {
        let data = try Self.file(.gradient(203, 151))
        let encoded = try EncodedImage(data)
        for (side, expected) in [(200, 203), (102, 102), (60, 102), (51, 51), (26, 26), (1, 26)] {
            let least = PixelSize(width: side, height: 1)
            let pixels = try encoded.decode(frame: 0, atLeast: least)
            #expect(try Bitmap(rendering: pixels.pipeline()).size.width == expected)
        }
    }

    @Test func refusesFilesThatAreCutShortAtAnySize() throws {
        let data = try Self.file(.gradient(200, 150))
        let cut = Data(data.prefix(data.count * 3 / 4))
        let image = try Image.decoding(cut)
        for quality in DownsamplingQuality.allCases {
            for side in [150, 60, 20] {
                let small = image.kf.downsampled(
                    toPixels: PixelSize(width: side, height: side), quality: quality)
                #expect(throws: ImageCodingError.self) { try small.bitmap() }
            }
        }
        #expect(
            throws: ImageCodingError.corrupt(.JPEG, reason: "Premature end of JPEG file")
        ) { try image.bitmap() }
    }

    @Test func namesOnlyTheQualityThatIsNotTheUsualOne() {
        let size = CGSize(width: 30, height: 20)
        let usual = DownsamplingImageProcessor(size: size)
        #expect(usual.quality == .best)
        #expect(
            usual.identifier
                == "com.onevcat.Kingfisher.DownsamplingImageProcessor((30.0, 20.0))")
        #expect(
            DownsamplingImageProcessor(size: size, quality: .fast).identifier
                == "com.onevcat.Kingfisher.DownsamplingImageProcessor((30.0, 20.0), fast)")
    }

    @Test func canBeSwitchedOffOnlyWhereItIsSupported() {
        // What is set here is what is set already: other tests run beside this one.
        DirectCoding.formats = DirectCoding.supportedFormats.union([.SVG])
        #expect(DirectCoding.formats == DirectCoding.supportedFormats)
        #expect(DirectCoding.supportedFormats.contains(.JPEG))
        #expect(!JPEGDecoder().canDecode(.PNG))
    }

    @Test func isSwitchedOffByTheOptionsOfAnImage() throws {
        let data = try Self.file(.gradient(40, 30))
        let others = DirectCoding(
            formats: DirectCoding.supportedFormats.subtracting([.JPEG]),
            skipsJPEGCoefficients: true)
        #expect(try EncodedImage(data, coding: others).opened is OpenedByVips)
        var options = ImageCreatingOptions()
        #expect(options.coding == .current)
        options.coding = others
        #expect(options != ImageCreatingOptions())
        #expect(
            try Image.decoding(data, options: options).bitmap().data
                == Image.decoding(data).bitmap().data)
    }
}

struct JPEGEncoderTests {
    @Test(arguments: [0.3, 0.8, 0.9, 1])
    func writesThePixelsThatLibvipsWrites(_ quality: CGFloat) throws {
        for channels in [3, 4] {
            let bitmap = try Bitmap.gradient(71, 43, channels: channels)
            let options = ImageEncodingOptions(quality: quality)
            let ours = try #require(
                try JPEGEncoder().encode([bitmap], timing: nil, as: .JPEG, options: options))
            let theirs = try #require(
                try VipsEncoder().encode([bitmap], timing: nil, as: .JPEG, options: options))
            #expect(abs(ours.count - theirs.count) * 100 <= theirs.count * 3)
            // Transparent pixels on white may be rounded otherwise before they are coded.
            let limit = channels == 3 ? 0.0 : 1.5
            #expect(try decoded(ours).meanDifference(from: decoded(theirs)) <= limit)
        }
    }

    @Test func writesTheUpperHalfOfSixteenBits() throws {
        // Native order is little-endian on all machines there are.
        let bytes: [UInt8] = (0..<600).flatMap { (index: Int) -> [UInt8] in
            [UInt8(truncatingIfNeeded: index * 37), UInt8(index % 20 * 12)]
        }
        let upper: [UInt8] = stride(from: 1, to: bytes.count, by: 2).map { bytes[$0] }
        let deep = try #require(
            Bitmap(
                pixels: Data(bytes), size: PixelSize(width: 20, height: 10), channels: 3,
                depth: .sixteen))
        let plain = try #require(Bitmap(pixels: Data(upper), size: deep.size, channels: 3))
        #expect(try encoded(deep, as: .JPEG) == encoded(plain, as: .JPEG))
    }

    @Test func leavesMetadataToLibvips() throws {
        let block = EXIFFixture.block(orientation: 1)
        let data = try encoded(
            .gradient(16, 16), as: .JPEG, metadata: ImageMetadata(exif: block))
        #expect(try ImageMetadata(reading: data).exif != nil)
    }
}
