import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// PNG files that say by the numbers of ITU-T H.273 what their colours mean: by the chunk `cICP`.
struct PNGColourTests {
    private static func chunk(
        _ primaries: Int, _ transfer: Int, matrix: UInt8 = 0, isFull: Bool = true
    ) -> PNGFixture.Chunk {
        let numbers = [UInt8(primaries), UInt8(transfer), matrix, isFull ? 1 : 0]
        return PNGFixture.Chunk(type: "cICP", data: Data(numbers))
    }

    /// Colours of all kinds, also such as sRGB does not have.
    private static func colours(isOpaque: Bool = true) -> PixelGrid {
        PixelGrid(width: 32, height: 24) { x, y in
            Pixel(
                UInt8(x * 8), UInt8(y * 10), UInt8((x * 7 + y * 5) % 256),
                isOpaque ? 255 : UInt8(255 - y * 8))
        }
    }

    /// By the matrices of the spaces, both with the white of D65 and the curve of sRGB (IEC 61966-2-1,
    /// SMPTE EG 432-1).
    private func expectDisplayP3(
        _ found: Color, of pixel: Pixel, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let expected = SRGB.samples(ofDisplayP3: pixel.rgb)
        for (a, b) in zip([found.red, found.green, found.blue], expected) {
            #expect(abs(a - b) * 255 < 0.6, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [PNGFixture.Format.rgb8, .rgba8, .palette8, .rgb16, .rgba16])
    func displayP3IsConverted(_ format: PNGFixture.Format) throws {
        let hasAlpha = format == .rgba8 || format == .rgba16
        let grid =
            format == .palette8
            ? PixelGrid.quadrants(width: 32, height: 24) : Self.colours(isOpaque: !hasAlpha)
        let bitmap = try decoded(PNGFixture.data(grid, as: format, chunks: [Self.chunk(12, 13)]))
        #expect(bitmap.hasAlpha == hasAlpha)
        #expect(bitmap.depth == (format == .rgb16 || format == .rgba16 ? .sixteen : .eight))
        for (place, pixel) in grid.pixels.enumerated() {
            let found = bitmap[place % grid.width, place / grid.width]
            expectDisplayP3(found, of: pixel)
            #expect(abs(found.alpha * 255 - Double(pixel.alpha)) < 0.01)
        }
    }

    /// The same numbers mean the same in both formats.
    @Test(arguments: [(1, 13), (12, 13), (9, 13), (12, 16), (9, 16), (9, 18), (1, 8), (11, 17)])
    func numbersMeanWhatTheyMeanInAVIF(_ primaries: Int, _ transfer: Int) throws {
        let grid = Self.colours(isOpaque: false)
        let chunk = Self.chunk(primaries, transfer)
        let file = PNGFixture.data(grid, chunks: [chunk])
        let found = try decoded(file)
        let deep = try decoded(PNGFixture.data(grid, as: .rgba16, chunks: [chunk]))
        let expected = try decoded(AVIFFixture(primaries: primaries, transfer: transfer).data(grid))
        #expect(try found.greatestDifference(from: expected) == 0)
        #expect(try deep.greatestDifference(from: expected) < 1)
        let isPlain = try found.greatestDifference(from: decoded(PNGFixture.data(grid))) == 0
        #expect(isPlain == (primaries == 1 && transfer == 13))
        #expect(
            try ImageInformation(of: file).colorProfile
                == .coded(primaries: primaries, transfer: transfer))
    }

    /// 50 candelas per square metre are a quarter of white paper's 203, and as bright as 137 in sRGB.
    @Test(arguments: [(16, 112), (18, 128)] as [(Int, UInt8)])
    func brightPicturesAreShownInTheRangeOfSRGB(_ transfer: Int, _ sample: UInt8) throws {
        let grid = PixelGrid(width: 16, height: 16) { x, _ in x < 8 ? Pixel(gray: sample) : .white }
        let chunks = [Self.chunk(9, transfer)]
        for format in [PNGFixture.Format.rgb8, .rgb16, .gray8, .gray16] {
            let bitmap = try decoded(PNGFixture.data(grid, as: format, chunks: chunks))
            #expect(bitmap.samples(2, 2).allSatisfy { (133...140).contains($0) })
            #expect(bitmap.samples(12, 2).allSatisfy { $0 >= 254 })
        }
    }

    /// Black is 16 and white 235.
    @Test(arguments: [PNGFixture.Format.rgb8, .gray8, .rgb16])
    func samplesOfVideoAreWidened(_ format: PNGFixture.Format) throws {
        let grid = PixelGrid(width: 4, height: 1) { x, _ in Pixel(gray: [16, 235, 0, 255][x]) }
        let chunk = Self.chunk(1, 13, isFull: false)
        let bitmap = try decoded(PNGFixture.data(grid, as: format, chunks: [chunk]))
        // Samples of 16 bits are 257 times those of 8, and white would be 256 times 235.
        for (x, expected) in [0, 255, 0, 255].enumerated() {
            #expect(bitmap.samples(x, 0).allSatisfy { abs(Int($0) - expected) <= 1 })
        }
    }

    /// A smaller picture of bright light is made of what is shown, not of samples on a curve of their own.
    @Test(arguments: [(12, 13), (9, 16)])
    func smallerPicturesAreThoseOfAVIF(_ primaries: Int, _ transfer: Int) throws {
        let grid = PixelGrid.checkerboard(
            Pixel(180, 160, 140), Pixel(90, 20, 60), width: 64, height: 64)
        let size = PixelSize(16, 16)
        let png = PNGFixture.data(grid, as: .rgb8, chunks: [Self.chunk(primaries, transfer)])
        let avif = try AVIFFixture(primaries: primaries, transfer: transfer).data(grid)
        let expected = try decoded(avif, at: size)
        #expect(try decoded(png, at: size).greatestDifference(from: expected) <= 1)
    }

    @Test func theyCountMoreThanAProfile() throws {
        let plain = try Self.colours().bitmap(channels: 3)
        let profiled = try plain.vipsImage().encoded("pngsave_buffer", ["profile": "p3"])
        let byProfile = try decoded(profiled)
        #expect(try byProfile.greatestDifference(from: plain) > 3)
        let chunks = PNGFixture.chunks(of: profiled)
        func file(_ chunk: PNGFixture.Chunk, at place: Int = 1) -> Data {
            var changed = chunks
            changed.insert(chunk, at: place)
            return PNGFixture.file(changed)
        }
        // As of sRGB, in both orders.
        for data in [file(Self.chunk(1, 13)), file(Self.chunk(1, 13), at: 2)] {
            #expect(try decoded(data).greatestDifference(from: plain) == 0)
            #expect(
                try ImageInformation(of: data).colorProfile == .coded(primaries: 1, transfer: 13))
        }
        // What says nothing, or is of another matrix, leaves it to the profile; so does what is damaged.
        for chunk in [
            Self.chunk(2, 13), Self.chunk(12, 2), Self.chunk(12, 9), Self.chunk(1, 13, matrix: 1),
        ] {
            #expect(try decoded(file(chunk)).greatestDifference(from: byProfile) == 0)
            let told = try ImageInformation(of: file(chunk)).colorProfile
            guard case .icc = told else {
                Issue.record("\(String(describing: told))")
                continue
            }
        }
    }

    @Test(arguments: [PNGFixture.Format.rgb8, .rgb16])
    func turnedPicturesAreConvertedToo(_ format: PNGFixture.Format) throws {
        let grid = Self.colours()
        let chunks = [Self.chunk(12, 13), EXIFFixture.chunk(6)]
        let bitmap = try decoded(PNGFixture.data(grid, as: format, chunks: chunks))
        #expect(bitmap.size == PixelSize(24, 32))
        // The stored left side is at the top.
        expectDisplayP3(bitmap[23, 31], of: grid[31, 0])
    }

    @Test(arguments: [PNGFixture.Format.rgba8, .rgba16])
    func framesOfAnimationsAreConverted(_ format: PNGFixture.Format) throws {
        let (first, second) = (Pixel(200, 120, 80), Pixel(60, 140, 200))
        let image = try Self.animation(first, second, format, Self.chunk(12, 13))
        expectDisplayP3(try image.bitmap(frame: 0)[3, 3], of: first)
        expectDisplayP3(try image.bitmap(frame: 1)[3, 3], of: second)
        expectDisplayP3(try image.bitmap(frame: 1)[7, 7], of: first)
    }

    /// A colour, and a square of another one on it.
    private static func animation(
        _ first: Pixel, _ second: Pixel, _ format: PNGFixture.Format, _ chunk: PNGFixture.Chunk
    ) throws -> Image {
        var fixture = APNGFixture([
            .init(.solid(first, width: 8, height: 8)),
            .init(.solid(second, width: 4, height: 4), left: 2, top: 2),
        ])
        fixture.format = format
        fixture.extra = [chunk]
        return try Image.decoding(fixture.data)
    }

    // MARK: gAMA and cHRM

    private static func gamma(_ value: Double) -> PNGFixture.Chunk { numbers("gAMA", [value]) }

    private static func numbers(_ type: String, _ values: [Double]) -> PNGFixture.Chunk {
        let bytes = values.flatMap { bigEndian(Int(($0 * 100_000).rounded()), 4) }
        return PNGFixture.Chunk(type: type, data: Data(bytes))
    }

    /// White, red, green and blue, x and y.
    private static func primaries(_ values: [Double]) -> PNGFixture.Chunk {
        numbers("cHRM", values)
    }

    private static let ofSRGB = primaries([0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06])
    private static let ofP3 = primaries([0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06])
    private static let standard = PNGFixture.Chunk(type: "sRGB", data: Data([0]))

    /// Light of 64 of 255 is 137 in sRGB.
    @Test(arguments: PNGFixture.Format.allCases)
    func aGammaIsObeyed(_ format: PNGFixture.Format) throws {
        let grid = PixelGrid.solid(Pixel(gray: 64), width: 16, height: 8)
        let data = PNGFixture.data(grid, as: format, chunks: [Self.gamma(1)])
        for bitmap in try [decoded(data), decoded(data, at: PixelSize(8, 4))] {
            #expect(bitmap.rgb(3, 2).allSatisfy { abs(Int($0) - 137) <= 1 })
        }
    }

    /// Of a power of 1.8, as on old Macintosh computers.
    @Test func aGammaIsAnyPower() throws {
        let grid = PixelGrid(width: 32, height: 2) { x, _ in Pixel(gray: UInt8(x * 8)) }
        let found = try decoded(PNGFixture.data(grid, as: .gray8, chunks: [Self.gamma(1 / 1.8)]))
        for x in 0..<32 {
            let sample = SRGB.sample(pow(Double(x * 8) / 255, 1.8))
            #expect(abs(Double(found.samples(x, 1)[0]) - sample * 255) <= 1)
        }
    }

    /// Files with the curve of sRGB have it so for readers that do not know more (PNG, section 11.3.2.5).
    @Test(arguments: [0.45455, 0.45, 0.4545])
    func theUsualGammaIsThatOfSRGB(_ value: Double) throws {
        let grid = Self.colours()
        for chunks in [[Self.gamma(value)], [Self.gamma(value), Self.ofSRGB], [Self.ofSRGB]] {
            let data = PNGFixture.data(grid, as: .rgb8, chunks: chunks)
            #expect(try decoded(data).greatestDifference(from: grid.bitmap(channels: 3)) == 0)
        }
    }

    @Test func primariesAreObeyed() throws {
        func difference(
            _ format: PNGFixture.Format, _ chunks: [PNGFixture.Chunk], _ other: PNGFixture.Chunk
        ) throws -> Double {
            let (found, expected) = (
                PNGFixture.data(Self.colours(), as: format, chunks: chunks),
                PNGFixture.data(Self.colours(), as: format, chunks: [other])
            )
            return try decoded(found).greatestDifference(from: decoded(expected))
        }
        #expect(try difference(.rgb8, [Self.ofP3], Self.chunk(12, 13)) <= 1)
        #expect(try difference(.rgb16, [Self.ofP3], Self.chunk(12, 13)) <= 1)
        #expect(try difference(.rgb8, [Self.gamma(1), Self.ofP3], Self.chunk(12, 8)) <= 1)
    }

    /// `cICP`, `iCCP`, `sRGB`, then `gAMA` and `cHRM` (PNG, third edition, section 4.3).
    @Test func theOrderOfPrecedenceIsThatOfTheSpecification() throws {
        let plain = try Self.colours().bitmap(channels: 3)
        let older = [Self.gamma(1), Self.ofP3]
        for chunks in [[Self.standard] + older, older + [Self.chunk(1, 13)]] {
            let file = PNGFixture.data(Self.colours(), as: .rgb8, chunks: chunks)
            #expect(try decoded(file).greatestDifference(from: plain) == 0)
        }
        let profiled = try plain.vipsImage().encoded("pngsave_buffer", ["profile": "p3"])
        var chunks = PNGFixture.chunks(of: profiled)
        chunks.insert(contentsOf: [Self.gamma(1), Self.standard], at: 1)
        let both = try decoded(PNGFixture.file(chunks))
        #expect(try both.greatestDifference(from: decoded(profiled)) == 0)
    }

    /// It cannot be read, or is for colours where there are none: then the chunks of lower precedence count.
    @Test(arguments: [PNGFixture.Format.rgb8, .gray8, .rgb16])
    func aProfileThatDoesNotFitDoesNotCount(_ format: PNGFixture.Format) throws {
        let picture = try Self.colours().bitmap(channels: 3)
        let profiled = try picture.vipsImage().encoded("pngsave_buffer", ["profile": "p3"])
        let profile = try #require(PNGFixture.chunks(of: profiled).first { $0.type == "iCCP" })
        let other = format == .gray8 ? profile.data : profile.data.prefix(40)
        let grid = PixelGrid.solid(Pixel(gray: 64), width: 16, height: 8)
        for content in [other, Data("name\0\0nonsense".utf8), Data("name".utf8), Data()] {
            let wrong = PNGFixture.Chunk(type: "iCCP", data: content)
            let file = PNGFixture.data(grid, as: format, chunks: [wrong, Self.gamma(1)])
            #expect(try decoded(file).rgb(3, 2).allSatisfy { abs(Int($0) - 137) <= 1 })
            #expect(try ImageInformation(of: file).colorProfile == nil)
            let plain = PNGFixture.data(
                grid, as: format, chunks: [wrong, Self.gamma(1), Self.standard])
            #expect(try decoded(plain).rgb(3, 2) == [64, 64, 64])
        }
    }

    @Test(arguments: [
        gamma(0), primaries([0, 0, 0, 0, 0, 0, 0, 0]),
        primaries([0.3127, 0.329, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
        PNGFixture.Chunk(type: "gAMA", data: Data([1])),
        PNGFixture.Chunk(type: "cHRM", data: Data(count: 31)),
    ])
    func numbersThatMeanNothingAreNotObeyed(_ chunk: PNGFixture.Chunk) throws {
        let grid = Self.colours()
        for format in [PNGFixture.Format.rgb8, .rgb16] {
            let found = try decoded(PNGFixture.data(grid, as: format, chunks: [chunk]))
            #expect(try found.greatestDifference(from: grid.bitmap(channels: 3)) < 0.01)
        }
    }

    @Test(arguments: [PNGFixture.Format.rgba8, .rgba16])
    func framesOfAnimationsHaveAGammaToo(_ format: PNGFixture.Format) throws {
        let grey = Pixel(gray: 64)
        let image = try Self.animation(grey, grey, format, Self.gamma(1))
        for frame in 0..<2 {
            let found = try image.bitmap(frame: frame).rgb(3, 3)
            #expect(found.allSatisfy { abs(Int($0) - 137) <= 1 })
        }
    }
}
