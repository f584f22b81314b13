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
            for y in 0..<frame.grid.height {
                for x in 0..<frame.grid.width {
                    let (column, row) = (frame.left + x, frame.top + y)
                    canvas[column, row] =
                        frame.isBlended
                        ? over(frame.grid[x, y], canvas[column, row]) : frame.grid[x, y]
                }
            }
            defer {
                switch frame.disposal {
                case .keep: break
                case .previous where index > 0: canvas = before
                case .clear, .previous:
                    for y in 0..<frame.grid.height {
                        for x in 0..<frame.grid.width {
                            canvas[frame.left + x, frame.top + y] = .clear
                        }
                    }
                }
            }
            return canvas
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
    private static func layered(
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
        try #require(bitmap.size == PixelSize(width: grid.width, height: grid.height))
        var greatest = 0
        for y in 0..<grid.height {
            for x in 0..<grid.width {
                let pixel = grid[x, y]
                var wanted = [pixel.red, pixel.green, pixel.blue, pixel.alpha]
                if bitmap.channels == 3 { wanted.removeLast() }
                // What is transparent has no colour that could be seen.
                if pixel.alpha == 0, bitmap.samples(x, y)[3] == 0 { continue }
                for (a, b) in zip(bitmap.samples(x, y), wanted) {
                    greatest = max(greatest, abs(Int(a) - Int(b)))
                }
            }
        }
        #expect(greatest <= tolerance, "\(name)")
    }

    // MARK: Frames

    @Test(arguments: PNGFixture.Format.allCases)
    func framesAreDrawnAsTheirDescriptionsSay(_ format: PNGFixture.Format) throws {
        let fixture = Self.layered(format)
        try expect(
            fixture.data, Self.drawn(fixture, width: 23, height: 17),
            tolerance: 1)
    }

    @Test func deepFramesKeepSixteenBits() throws {
        let image = try Image.decoding(Self.layered(.rgba16).data)
        #expect(image.depth == .sixteen)
        #expect(try image.bitmap(frame: 4).depth == .sixteen)
    }

    @Test func framesMayComeInManyParts() throws {
        var fixture = Self.layered()
        fixture.parts = 5
        try expect(fixture.data, Self.drawn(fixture, width: 23, height: 17), tolerance: 1)
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
        let files = try grids.map {
            try $0.bitmap(channels: 3).vipsImage().encoded("pngsave_buffer", ["interlace": true])
        }
        // The pixels of three still pictures become frames.
        var chunks = PNGFixture.chunks(of: files[0]).filter { $0.type == "IHDR" }
        chunks.append(APNGFixture.control(frames: 3, loops: 0))
        var number: UInt32 = 0
        for (index, file) in files.enumerated() {
            chunks.append(APNGFixture.description(.init(grids[index]), number: number))
            number += 1
            for chunk in PNGFixture.chunks(of: file) where chunk.type == "IDAT" {
                if index == 0 {
                    chunks.append(chunk)
                } else {
                    let order = withUnsafeBytes(of: number.bigEndian) { Data($0) }
                    chunks.append(PNGFixture.Chunk(type: "fdAT", data: order + chunk.data))
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
        var fixture = APNGFixture(
            [.quadrants(width: 8, height: 6), .solid(.black, width: 8, height: 6)].map {
                APNGFixture.Frame($0)
            })
        fixture.format = format
        fixture.extra = [
            PNGFixture.Chunk(type: "eXIf", data: EXIFFixture.block(orientation: 6, prefix: false))
        ]
        let image = try Image.decoding(fixture.data)
        #expect(image.pixelSize == PixelSize(width: 6, height: 8))
        let first = try image.bitmap(frame: 0)
        let corners = [(0, 0), (5, 0), (0, 7), (5, 7)].map { first.samples($0.0, $0.1) }
        #expect(corners == [[0, 0, 255], [255, 0, 0], [255, 255, 255], [0, 255, 0]])
        #expect(try image.bitmap(frame: 1).samples(3, 3) == [0, 0, 0])
    }

    @Test func timesAndRunsAreTold() throws {
        var fixture = APNGFixture(
            [(3, 10), (1, 4), (5, 0), (0, 100), (1, 100)].enumerated().map { index, delay in
                APNGFixture.Frame(
                    .solid(Pixel(gray: UInt8(index * 40)), width: 4, height: 3),
                    delay: (UInt16(delay.0), UInt16(delay.1)))
            })
        fixture.loopCount = 7
        let image = try Image.decoding(fixture.data)
        #expect(
            image.animation
                == AnimationTiming(durations: [0.3, 0.25, 0.05, 0.1, 0.1], loopCount: 7))
        #expect(image.kf.imageFrameCount == 5)
        #expect(image.duration == image.animation?.totalDuration)
    }

    @Test func onlyFramesThatLeaveHolesNeedAnOpacity() throws {
        let whole = PixelGrid.solid(.red, width: 8, height: 8)
        let part = PixelGrid.solid(.blue, width: 3, height: 3)
        func hasAlpha(_ frames: APNGFixture.Frame...) throws -> Bool {
            var fixture = APNGFixture(frames)
            fixture.format = .rgb8
            let image = try Image.decoding(fixture.data)
            try expect(fixture.data, Self.drawn(fixture, width: 8, height: 8))
            #expect(try ImageInformation(of: fixture.data).hasAlpha == image.hasAlpha)
            return image.hasAlpha
        }
        #expect(try !hasAlpha(.init(whole), .init(part, left: 2, top: 2)))
        #expect(try !hasAlpha(.init(whole, disposal: .clear), .init(whole)))
        #expect(
            try !hasAlpha(.init(whole), .init(part, disposal: .previous), .init(part, left: 5)))
        #expect(try hasAlpha(.init(whole), .init(part, disposal: .clear), .init(part, left: 5)))
        #expect(try hasAlpha(.init(whole, disposal: .previous), .init(part)))
    }

    // MARK: The still picture

    @Test func aHiddenPictureIsShownToThoseWhoWantOne() throws {
        let grids = (0..<3).map {
            PixelGrid.solid(Pixel(gray: UInt8($0 * 60 + 40)), width: 6, height: 4)
        }
        for format in [PNGFixture.Format.rgb8, .rgb16] {
            var fixture = APNGFixture(grids.map { APNGFixture.Frame($0) })
            fixture.hidden = .solid(.green, width: 6, height: 4)
            fixture.format = format
            try expect(fixture.data, grids)

            let still = try Image.decoding(
                fixture.data, options: ImageCreatingOptions(onlyFirstFrame: true))
            #expect(still.animation == nil && still.kf.imageFrameCount == 3)
            #expect(try still.bitmap().samples(2, 2) == [0, 255, 0])
            let small = still.kf.downsampled(toPixels: PixelSize(width: 3, height: 2))
            #expect(try small.bitmap().samples(1, 1) == [0, 255, 0])
            // A PNG file of one picture, not the animation that it was made of.
            let written = try #require(still.kf.data(format: .PNG))
            #expect(try Image.decoding(written).animation == nil)
        }
    }

    @Test func aThumbnailIsMadeOfTheStillPicture() async throws {
        var fixture = APNGFixture(
            [.solid(.red, width: 16, height: 8), .solid(.blue, width: 16, height: 8)].map {
                APNGFixture.Frame($0)
            })
        fixture.hidden = .solid(.green, width: 16, height: 8)
        let folder = try TemporaryDirectory()
        let file = try folder.write(fixture.data, to: "animation.png")
        let data = try await ThumbnailImageDataProvider(url: file, maxPixelSize: 4).data()
        let image = try Image.decoding(data)
        #expect(image.pixelSize == PixelSize(width: 4, height: 2) && image.animation == nil)
        #expect(try image.bitmap().samples(1, 1).prefix(3) == [0, 255, 0])
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
        let fixture = APNGFixture([.init(.gradient(width: 9, height: 7))])
        let image = try Image.decoding(fixture.data)
        #expect(image.animation == nil && image.kf.imageFrameCount == nil)
        try expect(image.bitmap(), .gradient(width: 9, height: 7))
    }

    @Test func reducedFramesAreThoseOfTheAnimation() throws {
        let grids = [Pixel.red, .green, .blue].map { PixelGrid.solid($0, width: 40, height: 30) }
        let image = try Image.decoding(APNGFixture(grids.map { APNGFixture.Frame($0) }).data)
        let small = image.kf.downsampled(toPixels: PixelSize(width: 8, height: 6))
        for (index, grid) in grids.enumerated() {
            let wanted = [grid[0, 0].red, grid[0, 0].green, grid[0, 0].blue]
            #expect(try small.bitmap(frame: index).samples(3, 3).prefix(3) == wanted[...])
        }
    }

    // MARK: Playing

    @Test func framesAreReadInOrderOnce() throws {
        let encoded = try EncodedImage(Self.layered().data)
        let all = try encoded.decodeAllFrames()
        var reader = try encoded.frameReader()
        for index in [0, 1, 4, 9, 11] {
            #expect(reader.position <= index)
            #expect(try reader.frame(index).data == all[index].data)
            #expect(reader.position == index + 1)
        }
    }

    @Test func limitsCountForAnimations() throws {
        let data = Self.layered().data
        let few = DecodingLimits(maximumPixelCount: 23 * 17 * 12 - 1)
        let image = try Image.decoding(data, options: ImageCreatingOptions(limits: few))
        #expect(try image.bitmap().size == PixelSize(width: 23, height: 17))
        #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
        // A canvas, what a frame covers, and a frame.
        let large = Self.layered(width: 400, height: 300).data
        let little = DecodingLimits(maximumMemory: 400 * 300 * 12)
        #expect(throws: ImageCodingError.self) {
            try Image.decoding(large, options: ImageCreatingOptions(limits: little))
                .bitmap(frame: 1)
        }
    }
}
