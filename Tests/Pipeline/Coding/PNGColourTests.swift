import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// PNG files that say by the numbers of ITU-T H.273 what their colours mean: by the chunk `cICP`.
struct PNGColourTests {
    private static func chunk(
        _ primaries: UInt8, _ transfer: UInt8, matrix: UInt8 = 0, isFull: Bool = true
    ) -> PNGFixture.Chunk {
        PNGFixture.Chunk(
            type: "cICP", data: Data([primaries, transfer, matrix, isFull ? 1 : 0]))
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
    private static func fromDisplayP3(_ pixel: Pixel) -> [Double] {
        let p3 = [pixel.red, pixel.green, pixel.blue].map { sample in
            let value = Double(sample) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return [
            1.224940 * p3[0] - 0.224940 * p3[1],
            -0.042057 * p3[0] + 1.042057 * p3[1],
            -0.019638 * p3[0] - 0.078636 * p3[1] + 1.098274 * p3[2],
        ].map { light in
            let light = min(max(light, 0), 1)
            return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        }
    }

    @Test(arguments: [PNGFixture.Format.rgb8, .rgba8, .palette8, .rgb16, .rgba16])
    func displayP3IsConverted(_ format: PNGFixture.Format) throws {
        let hasAlpha = format == .rgba8 || format == .rgba16
        let grid =
            format == .palette8
            ? PixelGrid.quadrants(width: 32, height: 24) : Self.colours(isOpaque: !hasAlpha)
        let data = PNGFixture.data(grid, as: format, chunks: [Self.chunk(12, 13)])
        let image = try Image.decoding(data)
        #expect(image.hasAlpha == hasAlpha)
        #expect(image.depth == (format == .rgb16 || format == .rgba16 ? .sixteen : .eight))
        let bitmap = try image.bitmap()
        for y in 0..<grid.height {
            for x in 0..<grid.width {
                let (found, expected) = (bitmap[x, y], Self.fromDisplayP3(grid[x, y]))
                for (a, b) in zip([found.red, found.green, found.blue], expected) {
                    #expect(abs(a - b) * 255 < 0.6)
                }
                #expect(abs(found.alpha * 255 - Double(grid[x, y].alpha)) < 0.01)
            }
        }
    }

    /// The same numbers mean the same in both formats.
    @Test(arguments: [(1, 13), (12, 13), (9, 13), (12, 16), (9, 16), (9, 18), (1, 8), (11, 17)])
    func numbersMeanWhatTheyMeanInAVIF(_ primaries: Int, _ transfer: Int) throws {
        let grid = Self.colours(isOpaque: false)
        let chunk = Self.chunk(UInt8(primaries), UInt8(transfer))
        let found = try decoded(PNGFixture.data(grid, chunks: [chunk]))
        let deep = try decoded(PNGFixture.data(grid, as: .rgba16, chunks: [chunk]))
        let fixture = AVIFFixture(primaries: primaries, transfer: transfer)
        let expected = try decoded(fixture.data(grid))
        #expect(try found.greatestDifference(from: expected) == 0)
        #expect(try deep.greatestDifference(from: expected) < 1)
        let plain = try decoded(PNGFixture.data(grid))
        #expect(
            try (found.greatestDifference(from: plain) == 0) == (primaries == 1 && transfer == 13))
    }

    /// 50 candelas per square metre are a quarter of white paper's 203, and as bright as 137 in sRGB.
    @Test(arguments: [(16, 112), (18, 128)] as [(UInt8, UInt8)])
    func brightPicturesAreShownInTheRangeOfSRGB(_ transfer: UInt8, _ sample: UInt8) throws {
        let grid = PixelGrid(width: 16, height: 16) { x, _ in x < 8 ? Pixel(gray: sample) : .white }
        for format in [PNGFixture.Format.rgb8, .rgb16, .gray8, .gray16] {
            let bitmap = try decoded(
                PNGFixture.data(grid, as: format, chunks: [Self.chunk(9, transfer)]))
            for channel in bitmap.samples(2, 2) { #expect((133...140).contains(channel)) }
            #expect(bitmap.samples(12, 2).allSatisfy { $0 >= 254 })
        }
    }

    /// Black is 16 and white 235.
    @Test(arguments: [PNGFixture.Format.rgb8, .gray8, .rgb16])
    func samplesOfVideoAreWidened(_ format: PNGFixture.Format) throws {
        let grid = PixelGrid(width: 4, height: 1) { x, _ in
            Pixel(gray: [16, 235, 0, 255][x])
        }
        let bitmap = try decoded(
            PNGFixture.data(grid, as: format, chunks: [Self.chunk(1, 13, isFull: false)]))
        // Samples of 16 bits are 257 times those of 8, and white would be 256 times 235.
        for (x, expected) in [0, 255, 0, 255].enumerated() {
            #expect(bitmap.samples(x, 0).allSatisfy { abs(Int($0) - expected) <= 1 })
        }
    }

    /// A smaller picture of bright light is made of what is shown, not of samples on a curve of their own.
    @Test func smallerPicturesAreThoseOfAVIF() throws {
        let grid = PixelGrid(width: 64, height: 64) { x, y in
            (x + y).isMultiple(of: 2) ? Pixel(180, 160, 140) : Pixel(90, 20, 60)
        }
        for (primaries, transfer) in [(12, 13), (9, 16)] {
            let size = PixelSize(width: 16, height: 16)
            let png = PNGFixture.data(
                grid, as: .rgb8, chunks: [Self.chunk(UInt8(primaries), UInt8(transfer))])
            let avif = try AVIFFixture(primaries: primaries, transfer: transfer).data(grid)
            let small = try Image.decoding(png).kf.downsampled(toPixels: size).bitmap()
            let expected = try Image.decoding(avif).kf.downsampled(toPixels: size).bitmap()
            #expect(try small.greatestDifference(from: expected) <= 1)
        }
    }

    @Test func theyCountMoreThanAProfile() throws {
        let grid = Self.colours()
        let profiled = try grid.bitmap(channels: 3).vipsImage()
            .encoded("pngsave_buffer", ["profile": "p3"])
        var chunks = PNGFixture.chunks(of: profiled)
        #expect(try decoded(profiled).greatestDifference(from: grid.bitmap(channels: 3)) > 3)
        // As of sRGB, in both orders.
        for place in [1, 2] {
            chunks.insert(Self.chunk(1, 13), at: place)
            let data = PNGFixture.file(chunks)
            #expect(try decoded(data).greatestDifference(from: grid.bitmap(channels: 3)) == 0)
            #expect(
                try ImageInformation(of: data).colorProfile == .coded(primaries: 1, transfer: 13))
            chunks.remove(at: place)
        }
        // What says nothing, or is of another matrix, leaves it to the profile; so does what is damaged.
        for chunk in [
            Self.chunk(2, 13), Self.chunk(12, 2), Self.chunk(12, 9), Self.chunk(1, 13, matrix: 1),
        ] {
            let data = PNGFixture.file([chunks[0], chunk] + chunks.dropFirst())
            #expect(try decoded(data).greatestDifference(from: decoded(profiled)) == 0)
            guard case .icc = try ImageInformation(of: data).colorProfile else {
                Issue.record("\(String(describing: try ImageInformation(of: data).colorProfile))")
                continue
            }
        }
    }

    @Test func informationTellsThem() throws {
        let data = PNGFixture.data(Self.colours(), chunks: [Self.chunk(9, 16)])
        #expect(
            try ImageInformation(of: data).colorProfile == .coded(primaries: 9, transfer: 16))
    }

    @Test func turnedPicturesAreConvertedToo() throws {
        let exif = PNGFixture.Chunk(
            type: "eXIf", data: EXIFFixture.block(orientation: 6, prefix: false))
        let grid = Self.colours()
        for format in [PNGFixture.Format.rgb8, .rgb16] {
            let data = PNGFixture.data(grid, as: format, chunks: [Self.chunk(12, 13), exif])
            let bitmap = try decoded(data)
            #expect(bitmap.size == PixelSize(width: 24, height: 32))
            // The stored left side is at the top.
            let (found, expected) = (bitmap[23, 31], Self.fromDisplayP3(grid[31, 0]))
            #expect(abs(found.red - expected[0]) * 255 < 0.6)
            #expect(abs(found.blue - expected[2]) * 255 < 0.6)
        }
    }

    @Test(arguments: [PNGFixture.Format.rgba8, .rgba16])
    func framesOfAnimationsAreConverted(_ format: PNGFixture.Format) throws {
        var fixture = APNGFixture(
            [
                .init(.solid(Pixel(200, 120, 80), width: 8, height: 8)),
                .init(.solid(Pixel(60, 140, 200), width: 4, height: 4), left: 2, top: 2),
            ])
        fixture.format = format
        fixture.extra = [Self.chunk(12, 13)]
        let image = try Image.decoding(fixture.data)
        for (frame, x, pixel) in [
            (0, 3, Pixel(200, 120, 80)), (1, 3, Pixel(60, 140, 200)), (1, 7, Pixel(200, 120, 80)),
        ] {
            let found = try image.bitmap(frame: frame)[x, x]
            for (a, b) in zip([found.red, found.green, found.blue], Self.fromDisplayP3(pixel)) {
                #expect(abs(a - b) * 255 < 0.6)
            }
        }
    }

    // MARK: gAMA and cHRM

    private static func number(_ value: Double) -> Data {
        withUnsafeBytes(of: UInt32((value * 100_000).rounded()).bigEndian) { Data($0) }
    }

    private static func gamma(_ value: Double) -> PNGFixture.Chunk {
        PNGFixture.Chunk(type: "gAMA", data: number(value))
    }

    /// White, red, green and blue, x and y.
    private static func primaries(_ values: [Double]) -> PNGFixture.Chunk {
        PNGFixture.Chunk(type: "cHRM", data: values.map(number).reduce(Data(), +))
    }

    private static let ofSRGB = primaries([0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06])
    private static let ofP3 = primaries([0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06])
    private static let standard = PNGFixture.Chunk(type: "sRGB", data: Data([0]))

    /// Light of 64 of 255 is 137 in sRGB.
    @Test(arguments: [
        PNGFixture.Format.gray8, .gray16, .grayAlpha8, .rgb8, .rgb16, .rgba8, .rgba16, .palette8,
    ])
    func aGammaIsObeyed(_ format: PNGFixture.Format) throws {
        let grid = PixelGrid.solid(Pixel(gray: 64), width: 16, height: 8)
        let data = PNGFixture.data(grid, as: format, chunks: [Self.gamma(1)])
        #expect(try decoded(data).samples(3, 3).prefix(3).allSatisfy { abs(Int($0) - 137) <= 1 })
        let size = PixelSize(width: 8, height: 4)
        let small = try Image.decoding(data).kf.downsampled(toPixels: size).bitmap()
        #expect(small.samples(3, 2).prefix(3).allSatisfy { abs(Int($0) - 137) <= 1 })
    }

    /// Of a power of 1.8, as on old Macintosh computers.
    @Test func aGammaIsAnyPower() throws {
        let grid = PixelGrid(width: 32, height: 2) { x, _ in Pixel(gray: UInt8(x * 8)) }
        let found = try decoded(PNGFixture.data(grid, as: .gray8, chunks: [Self.gamma(1 / 1.8)]))
        for x in 0..<32 {
            let light = pow(Double(x * 8) / 255, 1.8)
            let sample = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
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
        let grid = Self.colours()
        for format in [PNGFixture.Format.rgb8, .rgb16] {
            let found = try decoded(PNGFixture.data(grid, as: format, chunks: [Self.ofP3]))
            let expected = try decoded(
                PNGFixture.data(grid, as: format, chunks: [Self.chunk(12, 13)]))
            #expect(try found.greatestDifference(from: expected) <= 1)
        }
        let linear = try decoded(
            PNGFixture.data(grid, as: .rgb8, chunks: [Self.gamma(1), Self.ofP3]))
        let expected = try decoded(PNGFixture.data(grid, as: .rgb8, chunks: [Self.chunk(12, 8)]))
        #expect(try linear.greatestDifference(from: expected) <= 1)
    }

    /// `cICP`, `iCCP`, `sRGB`, then `gAMA` and `cHRM` (PNG, third edition, section 4.3).
    @Test func theOrderOfPrecedenceIsThatOfTheSpecification() throws {
        let grid = Self.colours()
        let plain = try grid.bitmap(channels: 3)
        let older = [Self.gamma(1), Self.ofP3]
        let asSRGB = PNGFixture.data(grid, as: .rgb8, chunks: [Self.standard] + older)
        #expect(try decoded(asSRGB).greatestDifference(from: plain) == 0)
        let coded = PNGFixture.data(grid, as: .rgb8, chunks: older + [Self.chunk(1, 13)])
        #expect(try decoded(coded).greatestDifference(from: plain) == 0)
        let profiled = try plain.vipsImage().encoded("pngsave_buffer", ["profile": "p3"])
        var chunks = PNGFixture.chunks(of: profiled)
        chunks.insert(contentsOf: [Self.gamma(1), Self.standard], at: 1)
        #expect(
            try decoded(PNGFixture.file(chunks)).greatestDifference(from: decoded(profiled)) == 0)
    }

    @Test func numbersThatMeanNothingAreNotObeyed() throws {
        let grid = Self.colours()
        for chunk in [
            Self.gamma(0), Self.primaries([0, 0, 0, 0, 0, 0, 0, 0]),
            Self.primaries([0.3127, 0.329, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
            PNGFixture.Chunk(type: "gAMA", data: Data([1])),
            PNGFixture.Chunk(type: "cHRM", data: Data(count: 31)),
        ] {
            for format in [PNGFixture.Format.rgb8, .rgb16] {
                let found = try decoded(PNGFixture.data(grid, as: format, chunks: [chunk]))
                #expect(try found.greatestDifference(from: grid.bitmap(channels: 3)) < 0.01)
            }
        }
    }

    @Test(arguments: [PNGFixture.Format.rgba8, .rgba16])
    func framesOfAnimationsHaveAGammaToo(_ format: PNGFixture.Format) throws {
        var fixture = APNGFixture(
            [
                .init(.solid(Pixel(gray: 64), width: 8, height: 8)),
                .init(.solid(Pixel(gray: 64), width: 4, height: 4), left: 2, top: 2),
            ])
        fixture.format = format
        fixture.extra = [Self.gamma(1)]
        let image = try Image.decoding(fixture.data)
        for frame in 0..<2 {
            let found = try image.bitmap(frame: frame).samples(3, 3)
            #expect(found.prefix(3).allSatisfy { abs(Int($0) - 137) <= 1 })
        }
    }
}
