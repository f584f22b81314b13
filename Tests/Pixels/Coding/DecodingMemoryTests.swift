import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// What decoding is expected to take, of files that take more than their pixels. Most are small files
/// whose headers claim more, as nothing is decoded here.
struct DecodingMemoryTests {
    private static let grid = PixelGrid.gradient(width: 400, height: 300)
    private static let count = 400 * 300
    private static let small = PixelSize(40, 30)

    /// Bytes that making the pixels of `image` is expected to take; 0 when they are made without being
    /// counted.
    private static func memory(_ data: Data, _ change: (Image) -> Image = { $0 }) throws -> Int {
        do {
            _ = try change(Image.decoding(data, limits: DecodingLimits(maximumMemory: 0))).bitmap()
            return 0
        } catch ImageCodingError.tooMuchMemory(let needed, _) {
            return needed
        }
    }

    private static func reduced(_ image: Image) -> Image { image.kf.downsampled(toPixels: small) }

    private static func saved(
        _ saver: String, _ options: [String: VipsValue] = [:], channels: Int = 3,
        orientation: Int? = nil, profile: Data? = nil
    ) throws -> Data {
        var image = try grid.bitmap(channels: channels).vipsImage()
        if let orientation {
            image = try image.settingMetadata([("orientation", .int(orientation))])
        }
        if let profile { image = try image.settingMetadata([("icc-profile-data", .blob(profile))]) }
        return try image.encoded(saver, options)
    }

    private static func displayP3(_ tag: String = "", at place: Int = 132) throws -> Data {
        var profile = try iccProfile("p3")
        profile.replaceSubrange(place..<place + tag.utf8.count, with: Data(tag.utf8))
        return profile
    }

    /// A JPEG file that claims 4000 × 3000 pixels.
    private static func jpeg(orientation: Int = 1) throws -> Data {
        var data = try saved("jpegsave_buffer", ["subsample_mode": "off"])
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0] as [UInt8])).lowerBound
        data.replaceSubrange(frame + 5..<frame + 9, with: [0x0B, 0xB8, 0x0F, 0xA0])
        return orientation > 1 ? EXIFFixture.turned(data, orientation) : data
    }

    private static let jpegCount = 12_000_000

    // MARK: What is cut off

    @Test(arguments: [nil, 1]) func countsWhatTheCropOfAnAVIFCutsOff(turns: Int?) throws {
        var fixture = AVIFFixture(quarterTurns: turns)
        fixture.crop = (0, 0, 2, 2)
        let data = try fixture.data(Self.grid)
        let needed = try Self.memory(data)
        #expect(needed >= 13 * Self.count)
        let found = try decoded(data, limits: DecodingLimits(maximumMemory: needed))
        #expect(found.size == PixelSize(2, 2))
    }

    @Test(.enabled(if: ImageFormat.readable.contains(.HEIC)))
    func countsItAsWellWhereLibvipsReadsTheFile() throws {
        let data = try AVIFFixture(crop: (0, 0, 2, 2)).data(Self.grid)
        let encoded = try EncodedImage(data, decoder: .vips)
        #expect(encoded.header.size == PixelSize(2, 2))
        #expect(encoded.isWorthCounting)
        #expect(encoded.memory() >= 10 * Self.count)
        let limits = DecodingLimits(maximumPixelCount: 1000)
        #expect(throws: ImageCodingError.tooManyPixels(PixelSize(400, 300), limit: 1000)) {
            try EncodedImage(data, limits: limits, decoder: .vips)
        }
    }

    // MARK: What codecs keep

    /// libjpeg keeps all coefficients of a picture whose components come one after the other.
    @Test func countsCoefficientsOfFilesWhoseScansLackComponents() throws {
        let data = try Self.jpeg()
        let scan = try #require(data.firstRange(of: [0xFF, 0xDA, 0x00, 0x0C, 0x03] as [UInt8]))
        let component = data[scan.upperBound]
        var split = data
        split.insert(
            contentsOf: [0xFF, 0xDA, 0, 8, 1, component, 0, 0, 0x3F, 0], at: scan.lowerBound)
        #expect(try Self.memory(data, Self.reduced) < Self.jpegCount)
        #expect(try Self.memory(split, Self.reduced) >= 6 * Self.jpegCount)
    }

    @Test func findsLosslessWebPBehindAProfile() throws {
        let data = try Self.saved("webpsave_buffer", ["lossless": true], profile: Self.displayP3())
        let chunk = try #require(data.firstRange(of: Data("VP8L".utf8)))
        #expect(chunk.lowerBound > 256)
        #expect(try Self.memory(data, Self.reduced) >= 8 * Self.count)
    }

    /// What looks like the name of a chunk is none.
    @Test func takesNoTextOfAProfileForLosslessWebP() throws {
        let data = try Self.saved("webpsave_buffer", profile: Self.displayP3("VP8L", at: 4))
        #expect(try Self.memory(data, Self.reduced) < Self.count)
    }

    /// libvips converts by a profile with tables, and has the whole picture meanwhile.
    @Test func countsWhatLibvipsTakesForWebPWithASlowProfile() throws {
        // A tag that says that there are tables.
        let data = try Self.saved("webpsave_buffer", profile: Self.displayP3("A2B0"))
        #expect(try Self.memory(data) >= (9 + 3) * Self.count)
        #expect(try Self.memory(data, Self.reduced) < Self.count)
    }

    @Test(arguments: [(1, false, 1), (2, false, 1), (1, true, 3), (8, true, 3)])
    func countsExpandedRowsOfInterlacedPNG(bits: Int, hasPalette: Bool, bytesPerPixel: Int) throws {
        var image = try Self.grid.bitmap(channels: 3).vipsImage()
        if !hasPalette { image = try image.converted(to: .bw) }
        let data = try image.encoded(
            "pngsave_buffer",
            ["interlace": true, "bitdepth": .int(bits), "palette": .bool(hasPalette)])
        let structure = try PNGStructure.check(data)
        #expect(structure.isInterlaced && structure.depth == bits)
        #expect(try Self.memory(data, Self.reduced) >= bytesPerPixel * Self.count)
    }

    @Test func countsRowsOfTilesOfTIFF() throws {
        let data = try Self.saved(
            "tiffsave_buffer", ["tile": true, "tile_width": 512, "tile_height": 256])
        // Two rows of tiles are kept, of which the picture has no more.
        #expect(try Self.memory(data, Self.reduced) >= (1 + 3) * Self.count)
    }

    /// Strips that are decoded as a whole; large ones of other kinds are read row by row.
    @Test func countsStripsOfTIFF() throws {
        func tiff(_ compression: String) throws -> Int {
            var data = try Self.saved("tiffsave_buffer", ["compression": .string(compression)])
            let rows = try #require(data.firstRange(of: [0x16, 0x01, 0x03, 0x00] as [UInt8]))
            data.replaceSubrange(rows.upperBound + 4..<rows.upperBound + 6, with: [0x2C, 0x01])
            return try Self.memory(data, Self.reduced)
        }
        #expect(try tiff("jpeg") >= (1 + 3) * Self.count)
        #expect(try tiff("none") < 2 * Self.count)
    }

    // MARK: What is turned

    @Test func countsLargeJPEGThatLibvipsTurnsBeforeAnotherStep() throws {
        func cropped(_ orientation: Int) throws -> Int {
            try Self.memory(Self.jpeg(orientation: orientation)) {
                $0.cropped(left: 9, top: 9, size: Self.small)
            }
        }
        #expect(try cropped(1) < Self.jpegCount)
        #expect(try cropped(6) >= 3 * Self.jpegCount)
    }

    @Test func countsTIFFThatLibvipsTurns() throws {
        let data = try Self.saved("tiffsave_buffer", orientation: 6)
        let plain = try Self.saved("tiffsave_buffer")
        for change in [{ $0 }, Self.reduced] as [(Image) -> Image] {
            let more = try Self.memory(data, change) - Self.memory(plain, change)
            #expect(more >= 3 * Self.count)
        }
    }

    // MARK: What steps hold

    private static let steps: [(String, bytes: Int, @Sendable (Image) -> Image)] = [
        ("blur", 6, { $0.blurred(radius: 9) }),
        ("Gaussian", 3, { $0.gaussianBlurred(sigma: 3) }),
        ("sharpening", 3, { $0.sharpened(sigma: 1) }),
        ("squares", 3, { $0.pixelated(side: 9) }),
        ("a flip", 3, { $0.flipped(horizontally: false, vertically: true) }),
        ("a turn", 3, { $0.rotated(degrees: 90, background: .black) }),
    ]

    @Test(arguments: steps.indices) func countsThePictureThatAStepHolds(_ index: Int) throws {
        let (name, bytes, step) = Self.steps[index]
        let data = try Self.jpeg()
        // Beside the result, for which 4 bytes are counted.
        let needed = try Self.memory(data, step)
        #expect(needed >= (bytes + 4) * Self.jpegCount, "\(name)")
        // The same of a small picture is nothing to speak of.
        #expect(try Self.memory(data) { step(Self.reduced($0)) } < Self.jpegCount)
    }

    @Test func countsThePictureThatIsSearchedForWhatIsInteresting() throws {
        let needed = try Self.memory(Self.jpeg()) { $0.smartCropped(to: Self.small) }
        #expect(needed >= 3 * Self.jpegCount)
    }

    /// A mirror image holds rows only.
    @Test func countsNothingForStepsThatReadFromTheTop() throws {
        let needed = try Self.memory(Self.jpeg()) {
            $0.flipped(horizontally: true, vertically: false)
        }
        #expect(needed <= 5 * Self.jpegCount)
    }

    @Test func countsSizesBetweenTheSteps() throws {
        let large = PixelSize(4000, 9000)
        let needed = try Self.memory(Self.jpeg()) {
            $0.extended(to: large, anchor: .zero, background: .black)
                .flipped(horizontally: false, vertically: true).resized(to: Self.small)
        }
        #expect(needed >= 3 * large.pixelCount)
    }

    /// What a step held is given up when the next one has made its own of it.
    @Test func countsNoMoreThanTwoStepsAtATime() throws {
        let data = try Self.jpeg()
        let two = try Self.memory(data) { $0.blurred(radius: 9).blurred(radius: 9) }
        let many = try Self.memory(data) { image in
            (0..<9).reduce(image) { image, _ in image.blurred(radius: 9) }
        }
        #expect(many == two)
    }
}
