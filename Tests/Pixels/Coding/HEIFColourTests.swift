import CCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// What the colours of HEIC files mean, which libheif hands on as they are stored.
@Suite(.enabled(if: ImageFormat.readable.contains(.HEIC) && ImageFormat.writable.contains(.HEIC)))
struct HEIFColourTests {
    private static let steps = (0..<8).map { UInt8(20 + 30 * $0) }

    private static func ramp() -> PixelGrid {
        PixelGrid(width: 64, height: 64) { x, _ in Pixel(gray: steps[x / 8]) }
    }

    /// The same numbers mean the same in both formats: PQ, HLG, BT.2020, linear light.
    @Test(arguments: [(9, 16), (9, 18), (9, 13), (1, 8), (12, 13), (12, 16), (1, 13), (9, 14)])
    func numbersMeanWhatTheyMeanInAVIF(_ primaries: Int, _ transfer: Int) throws {
        let grid = Self.ramp()
        let colours = HEIFFixture.colours(primaries: primaries, transfer: transfer)
        let expected = try decoded(AVIFFixture(primaries: primaries, transfer: transfer).data(grid))
        let file = try HEIFFixture(grid.bitmap(channels: 3).vipsImage(), colours: [colours]).data
        #expect(try decoded(file).greatestDifference(from: expected) <= 1)
        #expect(
            try ImageInformation(of: file).colorProfile
                == .coded(primaries: primaries, transfer: transfer))
        let small = try decoded(file, at: PixelSize(32, 32))
        for x in [2, 14, 26] {
            let pairs = zip(small.samples(x, 9), expected.samples(2 * x, 9))
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 3 }, "\(x)")
        }
    }

    @Test func samplesOfTenBitsAreConvertedToo() throws {
        let grid = Self.ramp()
        let image = try grid.bitmap(channels: 3).vipsImage().cast(to: .ushort)
            .linear(multiply: [257], add: [0]).cast(to: .ushort).interpreted(as: .rgb16)
        let colours = HEIFFixture.colours(primaries: 9, transfer: 16)
        let found = try decoded(HEIFFixture(image, bits: 10, colours: [colours]).data)
        #expect(found.depth == .sixteen)
        let expected = try decoded(AVIFFixture(primaries: 9, transfer: 16).data(grid))
        #expect(try found.greatestDifference(from: expected) < 2)
    }

    /// BT.2020 and PQ in its sequence parameters, written by libheif; no box says it. Eight steps of 8192 of 65536.
    @Test func theBitStreamTellsWhereNoBoxDoes() throws {
        let file = try SampleFile.data("colours-in-stream.heic")
        #expect(try ImageInformation(of: file).colorProfile == .coded(primaries: 9, transfer: 16))
        let grid = PixelGrid(width: 64, height: 64) { x, _ in Pixel(gray: UInt8(x / 8 * 32)) }
        let expected = try decoded(AVIFFixture(primaries: 9, transfer: 16).data(grid))
        let found = try decoded(file)
        for x in stride(from: 4, to: 64, by: 8) {
            #expect(abs(Int(found.samples(x, 9)[0]) - Int(expected.samples(x, 9)[0])) <= 2, "\(x)")
        }
    }

    @Test func aProfileCountsMoreThanNumbers() throws {
        let grid = try Self.ramp().bitmap(channels: 3)
        let file = try HEIFFixture(
            grid.vipsImage(),
            colours: [
                HEIFFixture.profile(iccProfile("srgb")),
                HEIFFixture.colours(primaries: 9, transfer: 16),
            ]
        ).data
        #expect(try decoded(file).greatestDifference(from: grid) <= 1)
    }

    /// Linear light: 32, 96, 160 and 224 are 99, 165, 208 and 241 in sRGB.
    @Test(arguments: [
        (true, [99, 165, 208, 241]), (false, [32, 96, 160, 224]),
    ])
    func profilesForGreyAreObeyedWhereThereIsBrightnessAlone(
        _ saysGrey: Bool, _ expected: [Int]
    ) throws {
        let grid = PixelGrid(width: 64, height: 64) { x, _ in
            Pixel(gray: [32, 96, 160, 224][x / 16])
        }
        let profile = HEIFFixture.profile(GreyProfileFixture.data(gamma: 1))
        let image = try grid.bitmap(channels: 3).vipsImage()
        let file = try HEIFFixture(image, colours: [profile], saysGrey: saysGrey).data
        for bitmap in try [decoded(file), decoded(file, at: PixelSize(32, 32))] {
            for (index, level) in expected.enumerated() {
                let found = bitmap.samples((2 * index + 1) * bitmap.size.width / 8, 5)
                #expect(found.allSatisfy { abs(Int($0) - level) <= 1 }, "\(found)")
            }
        }
    }

    @Test(
        arguments: [
            (nil, "pixels are stored uncompressed (unci)"),
            ("defl", "uncompressed pixels (unci) are packed with deflate"),
            ("brot", "uncompressed pixels (unci) are packed with Brotli"),
        ] as [(String?, String)])
    func uncompressedFilesAreUnsupportedByName(_ packing: String?, _ reason: String) throws {
        var properties = [
            HEIFFixture.box("uncC", HEIFFixture.number(1 << 24, 4) + Data("rgba".utf8)),
            HEIFFixture.size(8, 8),
        ]
        if let packing {
            let kind = HEIFFixture.number(0, 4) + Data(packing.utf8) + Data([2])
            properties.append(HEIFFixture.box("cmpC", kind))
        }
        let pixels = Data(repeating: 7, count: 256)
        let file = HEIFFixture(type: "unci", properties: properties, pixels: pixels).data
        #expect(try ImageInformation(of: file).size == PixelSize(8, 8))
        do {
            // A libheif that reads it is right, too.
            #expect(try decoded(file).size == PixelSize(8, 8))
        } catch {
            let expected = ImageCodingError.unsupported(
                .HEIC, reason: "its \(reason), which is not read")
            #expect(error as? ImageCodingError == expected)
        }
    }

    @Test(arguments: [
        ("avc1", "H.264"), ("j2k1", "JPEG 2000"), ("vvc1", "H.266"), ("jpeg", "JPEG"),
    ])
    func otherCodecsAreNamed(_ type: String, _ name: String) throws {
        let file = HEIFFixture(
            type: type, properties: [HEIFFixture.size(8, 8)], pixels: Data(repeating: 7, count: 64))
        let expected = ImageCodingError.unsupported(
            .HEIC, reason: "its pixels are stored as \(name), which is not read")
        #expect(throws: expected) { try decoded(file.data) }
    }
}

/// Profiles for grey in AVIF files of brightness alone.
@Suite(.enabled(if: ImageFormat.readable.contains(.AVIF)))
struct AVIFGreyProfileTests {
    @Test(arguments: [1.0, 1.8, 2.2])
    func areObeyed(_ gamma: Double) throws {
        let grid = PixelGrid(width: 64, height: 16) { x, _ in Pixel(gray: UInt8(x * 4)) }
        let profile = GreyProfileFixture.data(gamma: gamma)
        var fixture = AVIFFixture(format: AVIF_PIXEL_FORMAT_YUV400)
        fixture.matrix = AVIF_MATRIX_COEFFICIENTS_BT601
        fixture.profile = profile
        let found = try decoded(fixture.data(grid))
        for x in 0..<64 {
            let expected = 255 * SRGB.sample(pow(Double(x * 4) / 255, gamma))
            #expect(found.samples(x, 3).allSatisfy { abs(Double($0) - expected) <= 1.5 })
        }
        // The same of other formats.
        let colours = try grid.bitmap(channels: 3)
        let grey = try colours.vipsImage().withOneColour()
            .settingMetadata([("icc-profile-data", .blob(profile))])
        for file in [
            try grey.encoded("pngsave_buffer"), try grey.encoded("jpegsave_buffer", ["Q": 100]),
        ] { #expect(try decoded(file).greatestDifference(from: found) <= 2) }
        // A file with colours has nothing to do with it.
        let colourful = try AVIFFixture(profile: profile).data(grid)
        #expect(try decoded(colourful).greatestDifference(from: colours) == 0)
    }
}
