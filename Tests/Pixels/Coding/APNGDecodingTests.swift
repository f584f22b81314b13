import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct APNGDecodingTests {
    /// What the specification says of frames, pixel by pixel and in floating point.
    private static func drawn(_ fixture: APNGFixture, width: Int, height: Int) -> [PixelGrid] {
        var canvas = PixelGrid.solid(.clear, width: width, height: height)
        return fixture.frames.enumerated().map { index, frame in
            let before = canvas
            func draw(_ colour: (_ front: Pixel, _ back: Pixel) -> Pixel) {
                for (place, pixel) in frame.grid.pixels.enumerated() {
                    let (y, x) = place.quotientAndRemainder(dividingBy: frame.grid.width)
                    let back = canvas[frame.left + x, frame.top + y]
                    canvas[frame.left + x, frame.top + y] = colour(pixel, back)
                }
            }
            draw { frame.isBlended ? over($0, $1) : $0 }
            let shown = canvas
            switch frame.disposal {
            case .keep: break
            case .previous where index > 0: canvas = before
            case .clear, .previous: draw { _, _ in .clear }
            }
            return shown
        }
    }

    private static func over(_ front: Pixel, _ back: Pixel) -> Pixel {
        let (a, b) = (Double(front.alpha) / 255, Double(back.alpha) / 255)
        let sum = a + (1 - a) * b
        guard sum > 0 else { return back }
        let mixed = [(front.red, back.red), (front.green, back.green), (front.blue, back.blue)]
            .map { UInt8(((Double($0) * a + Double($1) * (1 - a) * b) / sum).rounded()) }
        return Pixel(mixed[0], mixed[1], mixed[2], UInt8((sum * 255).rounded()))
    }

    /// Frames that cover parts of the canvas, are partly transparent, and are disposed of in all ways.
    static func layered(
        _ format: PNGFixture.Format = .rgba8, width: Int = 23, height: Int = 17
    ) -> APNGFixture {
        let frames = (0..<12).map { index in
            let grid = PixelGrid(
                width: index == 0 ? width : 9, height: index == 0 ? height : 7
            ) { x, y in
                let alpha = [0, 255, 130, 255, 40][(x + 2 * y + index) % 5]
                // A palette has room for few colours.
                let isGrey = [.gray8, .gray16, .grayAlpha8, .palette8].contains(format)
                let isOpaque = [.gray8, .gray16, .rgb8, .rgb16].contains(format)
                let level = UInt8(index * 20)
                let green = isGrey ? level : UInt8(truncatingIfNeeded: x / 4 * 15)
                let blue = isGrey ? level : UInt8(truncatingIfNeeded: y / 4 * 20)
                return Pixel(level, green, blue, isOpaque ? 255 : UInt8(alpha))
            }
            return APNGFixture.Frame(
                grid, left: index == 0 ? 0 : index, top: index == 0 ? 0 : index * 2 % 10,
                disposal: APNGFixture.Disposal.allCases[index % 3],
                isBlended: index.isMultiple(of: 2))
        }
        var fixture = APNGFixture(frames)
        fixture.format = format
        return fixture
    }

    private func expect(_ data: Data, _ expected: [PixelGrid], tolerance: Int = 0) throws {
        let image = try Image.decoding(data)
        #expect(image.frameCount == expected.count)
        for (index, grid) in expected.enumerated() {
            let bitmap = try image.bitmap(frame: index)
            #expect(bitmap.channels == (image.hasAlpha ? 4 : 3))
            try expect(bitmap, grid, tolerance: tolerance, "frame \(index)")
        }
    }

    private func expect(
        _ bitmap: Bitmap, _ grid: PixelGrid, tolerance: Int = 0, _ name: String = ""
    ) throws {
        let difference = try bitmap.visibleDifference(from: grid.bitmap(channels: bitmap.channels))
        #expect(difference < Double(tolerance) + 0.5, "\(name)")
    }

    // MARK: Frames

    @Test(arguments: PNGFixture.Format.allCases)
    func framesAreDrawnAsTheirDescriptionsSay(_ format: PNGFixture.Format) throws {
        var fixture = Self.layered(format)
        let expected = Self.drawn(fixture, width: 23, height: 17)
        for parts in [1, 5] {
            fixture.parts = parts
            try expect(fixture.data, expected, tolerance: 1)
        }
    }

    @Test func deepFramesKeepSixteenBits() throws {
        let image = try Image.decoding(Self.layered(.rgba16).data)
        #expect(image.depth == .sixteen)
        #expect(try image.bitmap(frame: 4).depth == .sixteen)
    }

    @Test(arguments: APNGSample.all)
    func readsFilesOfOtherPrograms(_ sample: APNGSample) throws {
        let image = try Image.decoding(SampleFile.data(sample.file))
        #expect(image.animation == sample.timing)
        for (index, checksum) in sample.checksums.enumerated() {
            let bitmap = try image.bitmap(frame: index)
            let rgba = (0..<bitmap.size.pixelCount).flatMap { place -> [UInt8] in
                let pixel = bitmap.samples(place % bitmap.size.width, place / bitmap.size.width)
                return pixel.count == 4 ? pixel : pixel + [255]
            }
            #expect(PNGFixture.checksum(rgba) == checksum, "frame \(index)")
        }
    }

    @Test func interlacedFramesAreRead() throws {
        let grids = (0..<3).map { index in
            PixelGrid(width: 11, height: 9) { x, y in
                Pixel(UInt8(x * 20), UInt8(y * 25), UInt8(index * 90))
            }
        }
        // The pixels of three still pictures become frames.
        let files = try grids.map { grid -> [PNGFixture.Chunk] in
            let image = try grid.bitmap(channels: 3).vipsImage()
            return try PNGFixture.chunks(of: image.encoded("pngsave_buffer", ["interlace": true]))
        }
        var chunks = files[0].filter { $0.type == "IHDR" }
        chunks.append(APNGFixture.control(frames: 3, loops: 0))
        var number: UInt32 = 0
        for (index, file) in files.enumerated() {
            chunks.append(APNGFixture.description(.init(grids[index]), number: number))
            number += 1
            for chunk in file where chunk.type == "IDAT" {
                if index == 0 {
                    chunks.append(chunk)
                } else {
                    let data = Data(bigEndian(Int(number), 4)) + chunk.data
                    chunks.append(PNGFixture.Chunk(type: "fdAT", data: data))
                    number += 1
                }
            }
        }
        chunks.append(PNGFixture.Chunk(type: "IEND", data: Data()))
        try expect(PNGFixture.file(chunks), grids)
    }

    /// Orientation 6 shows the stored left side at the top.
    @Test(arguments: [PNGFixture.Format.rgb8, .rgb16])
    func framesAreTurnedAsTheFileSays(_ format: PNGFixture.Format) throws {
        var fixture = Self.fixture(
            .quadrants(width: 8, height: 6), .solid(.black, width: 8, height: 6))
        fixture.format = format
        fixture.extra = [EXIFFixture.chunk(6)]
        let image = try Image.decoding(fixture.data)
        #expect(image.pixelSize == PixelSize(6, 8))
        let corners = try image.bitmap(frame: 0).corners
        #expect(corners == [[0, 0, 255], [255, 0, 0], [255, 255, 255], [0, 255, 0]])
        #expect(try image.bitmap(frame: 1).samples(3, 3) == [0, 0, 0])
    }

    private static func fixture(_ grids: PixelGrid...) -> APNGFixture {
        APNGFixture(grids.map { APNGFixture.Frame($0) })
    }

    @Test func timesAndRunsAreTold() throws {
        let delays: [(UInt16, UInt16)] = [(3, 10), (1, 4), (5, 0), (0, 100), (1, 100)]
        var fixture = APNGFixture(
            delays.map { .init(.solid(Pixel(gray: UInt8($0.0)), width: 4, height: 3), delay: $0) })
        fixture.loopCount = 7
        let image = try Image.decoding(fixture.data)
        let timing = AnimationTiming(durations: [0.3, 0.25, 0.05, 0.1, 0.1], loopCount: 7)
        #expect(image.animation == timing)
        #expect(image.kf.imageFrameCount == 5 && image.duration == timing.totalDuration)
        let information = try ImageInformation(of: fixture.data)
        #expect(information.animation == timing && information.frameCount == 5)
    }

    @Test func onlyFramesThatLeaveHolesNeedAnOpacity() throws {
        let whole = PixelGrid.solid(.red, width: 8, height: 8)
        let part = PixelGrid.solid(.blue, width: 3, height: 3)
        let cases: [([APNGFixture.Frame], Bool)] = [
            ([.init(whole), .init(part, left: 2, top: 2)], false),
            ([.init(whole, disposal: .clear), .init(whole)], false),
            ([.init(whole), .init(part, disposal: .previous), .init(part, left: 5)], false),
            ([.init(whole), .init(part, disposal: .clear), .init(part, left: 5)], true),
            ([.init(whole, disposal: .previous), .init(part)], true),
        ]
        for (frames, hasAlpha) in cases {
            var fixture = APNGFixture(frames)
            fixture.format = .rgb8
            try expect(fixture.data, Self.drawn(fixture, width: 8, height: 8))
            #expect(try Image.decoding(fixture.data).hasAlpha == hasAlpha)
            #expect(try ImageInformation(of: fixture.data).hasAlpha == hasAlpha)
        }
    }

    // MARK: The still picture

    @Test(arguments: [PNGFixture.Format.rgb8, .rgb16])
    func aHiddenPictureIsShownToThoseWhoWantOne(_ format: PNGFixture.Format) throws {
        let grids = [40, 100, 160].map { PixelGrid.solid(Pixel(gray: $0), width: 6, height: 4) }
        var fixture = APNGFixture(grids.map { APNGFixture.Frame($0) })
        fixture.hidden = .solid(.green, width: 6, height: 4)
        fixture.format = format
        try expect(fixture.data, grids)

        let still = try Image.decoding(
            fixture.data, options: ImageCreatingOptions(onlyFirstFrame: true))
        #expect(still.animation == nil && still.kf.imageFrameCount == 3)
        let small = still.kf.downsampled(toPixels: PixelSize(3, 2))
        for image in [still, small] { #expect(try image.bitmap().samples(1, 1) == [0, 255, 0]) }
        // A PNG file of one picture, not the animation that it was made of.
        let written = try #require(still.kf.data(format: .PNG))
        #expect(try Image.decoding(written).animation == nil)
    }

    @Test func aThumbnailIsMadeOfTheStillPicture() async throws {
        var fixture = Self.fixture(
            .solid(.red, width: 16, height: 8), .solid(.blue, width: 16, height: 8))
        fixture.hidden = .solid(.green, width: 16, height: 8)
        let folder = try TemporaryDirectory()
        let file = try folder.write(fixture.data, to: "animation.png")
        let data = try await ThumbnailImageDataProvider(url: file, maxPixelSize: 4).data()
        let image = try Image.decoding(data)
        #expect(image.pixelSize == PixelSize(4, 2) && image.animation == nil)
        #expect(try image.bitmap().rgb(1, 1) == [0, 255, 0])
    }

    @Test func aFrameBehindAHiddenPictureIsWhatTheFileShows() throws {
        var fixture = APNGFixture([.init(.solid(.red, width: 2, height: 2), left: 1, top: 1)])
        fixture.hidden = .solid(.green, width: 4, height: 4)
        let image = try Image.decoding(fixture.data)
        #expect(image.animation == nil && image.frameCount == 1)
        #expect(try image.bitmap().samples(1, 1) == [255, 0, 0, 255])
        #expect(try image.bitmap().samples(3, 3)[3] == 0)
    }

    @Test func anAnimationOfOnePictureIsAPicture() throws {
        let grid = PixelGrid.gradient(width: 9, height: 7)
        let image = try Image.decoding(Self.fixture(grid).data)
        #expect(image.animation == nil && image.kf.imageFrameCount == nil)
        try expect(image.bitmap(), grid)
    }

    @Test func reducedFramesAreThoseOfTheAnimation() throws {
        let colours = [Pixel.red, .green, .blue]
        let frames = colours.map { APNGFixture.Frame(.solid($0, width: 40, height: 30)) }
        let small = try Image.decoding(APNGFixture(frames).data).kf
            .downsampled(toPixels: PixelSize(8, 6))
        #expect(try (0..<3).map { try small.bitmap(frame: $0).rgb(3, 3) } == colours.map(\.rgb))
    }

    @Test func limitsCountForAnimations() throws {
        // A canvas, what a frame covers, and a frame.
        let large = Self.layered(width: 400, height: 300).data
        let little = DecodingLimits(maximumMemory: 400 * 300 * 12)
        #expect(throws: ImageCodingError.self) {
            try Image.decoding(large, limits: little).bitmap(frame: 1)
        }
    }
}

/// Animated PNG files of `Tests/Samples` that Pillow 13 has written, and checksums (CRC-32) of their frames as RGBA:
/// the pixels as it reads them, drawn onto each other by a few lines of Python after the words of the
/// specification. (Pillow itself leaves out what a frame covered that is disposed of as "previous", and lays
/// frames over a picture that is none.)
struct APNGSample: CustomTestStringConvertible {
    let file: String
    let timing: AnimationTiming
    let checksums: [UInt32]

    var testDescription: String { file }

    static let all = [
        APNGSample(
            file: "apng-laid-over.png",
            timing: AnimationTiming(durations: [0.1, 0.05, 0.2, 0.04, 0.07], loopCount: 3),
            checksums: [0x426E_1ED0, 0x420A_C3DC, 0x80F6_B82E, 0x5C5B_D382, 0xD202_0C6F]),
        APNGSample(
            file: "apng-picture-no-frame.png",
            timing: AnimationTiming(durations: [0.08, 0.08, 0.08, 0.08], loopCount: 0),
            checksums: [0xF1F5_9666, 0x80F6_B82E, 0x18A6_92BF, 0xD202_0C6F]),
        APNGSample(
            file: "apng-opaque.png",
            timing: AnimationTiming(durations: [0.06, 0.06, 0.06, 0.06, 0.06], loopCount: 1),
            checksums: [0x426E_1ED0, 0xBDF5_A2BC, 0x47AB_7D34, 0x1865_FDAE, 0x518A_515F]),
    ]
}
