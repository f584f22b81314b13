import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct AVIFDecodingTests {
    /// Red, green over blue, white.
    private let quadrants = PixelGrid.quadrants(width: 32, height: 16)
    private static let red = Pixel.red.rgb, green = Pixel.green.rgb, blue = Pixel.blue.rgb
    private static let white = Pixel.white.rgb

    @Test(arguments: [
        (1, [green, white, red, blue]), (2, [white, blue, green, red]),
        (3, [blue, red, white, green]),
    ])
    func turnsAgainstTheClock(_ quarters: Int, _ expected: [[UInt8]]) throws {
        let image = try Image.decoding(AVIFFixture(quarterTurns: quarters).data(quadrants))
        #expect(image.pixelSize.width == (quarters == 2 ? 32 : 16))
        #expect(try image.bitmap().size == image.pixelSize)
        #expect(try image.bitmap().corners == expected)
    }

    @Test(arguments: [(0, [blue, white, red, green]), (1, [green, red, white, blue])])
    func mirrors(_ axis: Int, _ expected: [[UInt8]]) throws {
        let bitmap = try decoded(AVIFFixture(mirrorAxis: axis).data(quadrants))
        #expect(bitmap.corners == expected)
    }

    @Test func countsThePixelsBeforeTheCrop() throws {
        let data = try AVIFFixture(crop: (left: 0, top: 0, width: 4, height: 4)).data(quadrants)
        #expect(try Image.decoding(data).pixelSize == PixelSize(4, 4))
        let most = 32 * 16 - 1
        #expect(throws: ImageCodingError.tooManyPixels(quadrants.pixelSize, limit: most)) {
            try Image.decoding(data, limits: DecodingLimits(maximumPixelCount: most))
        }
    }

    @Test func playsSequences() throws {
        let colours: [Pixel] = [.red, .green, Pixel(0, 0, 255, 128)]
        let grids = colours.map { PixelGrid.solid($0, width: 16, height: 16) }
        let data = try AVIFFixture(delay: 25).data(grids[2], grids[1], grids[0])
        let image = try Image.decoding(data)
        #expect(image.animation?.durations == [0.25, 0.25, 0.25])
        #expect(image.hasAlpha)
        let frames = try image.allBitmaps().map { $0.samples(5, 5) }
        #expect(frames == [[0, 0, 255, 128], [0, 255, 0, 255], [255, 0, 0, 255]])
        let source = try #require(Image.decoding(data).kf.frameSource)
        #expect(source.frame(at: 2)?.samples(5, 5) == [255, 0, 0, 255])
        #expect(source.frame(at: 1)?.samples(5, 5) == [0, 255, 0, 255])
    }

    /// Tiles are stored one by one, and are one picture.
    @Test(arguments: [8, 10], [false, true])
    func putsTilesTogether(_ depth: Int, hasAlpha: Bool) throws {
        let whole = PixelGrid(width: 192, height: 128) { x, y in
            Pixel(UInt8(x), UInt8(y * 2), UInt8((x + y) % 256), hasAlpha ? UInt8(255 - x) : 255)
        }
        let tiles = (0..<2).map { row in
            (0..<3).map { column in
                PixelGrid(width: 64, height: 64) { x, y in whole[64 * column + x, 64 * row + y] }
            }
        }
        let data = try AVIFFixture(depth: depth).data(tiles: tiles)
        let image = try Image.decoding(data)
        #expect(image.pixelSize == whole.pixelSize && image.hasAlpha == hasAlpha)
        let expected = try whole.bitmap(channels: hasAlpha ? 4 : 3)
        #expect(try image.bitmap().greatestDifference(from: expected) < 0.51)
        #expect(try ImageInformation(of: data).size == whole.pixelSize)
        let middle = try decoded(data, at: PixelSize(48, 32))[24, 16]
        #expect(abs(middle.red - 98.0 / 255) < 0.02 && abs(middle.green - 132.0 / 255) < 0.02)
    }

    /// The same boxes as those of a sequence of AVIF.
    @Test func sequencesOfHEICAreToldAndRefused() throws {
        let grids = [Pixel.red, .green].map { PixelGrid.solid($0, width: 64, height: 64) }
        var data = try AVIFFixture(delay: 25).data(grids[0], grids[1])
        let length = data.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        for start in stride(from: 8, to: length, by: 4) where start != 12 {
            let brand = String(decoding: data[start..<start + 4], as: UTF8.self)
            let other = ["avis": "hevc", "avif": "heic"][brand]
            if let other { data.replaceSubrange(start..<start + 4, with: Data(other.utf8)) }
        }
        let information = try ImageInformation(of: data)
        #expect(information.format == .HEIC && information.frameCount == 2)
        #expect(
            throws: ImageCodingError.unsupported(.HEIC, reason: "it is a sequence of pictures")
        ) { try Image.decoding(data) }
    }

    /// BT.2020 with the curve of sRGB. The matrix is that of ITU-R BT.2087. What other numbers mean, `PNGColourTests`
    /// shows by comparison.
    @Test func convertsColoursOfOtherPrimaries() throws {
        let data = try AVIFFixture(primaries: 9)
            .data(.solid(Pixel(180, 160, 140), width: 16, height: 16))
        let light = [180, 160, 140].map { SRGB.light($0 / 255) }
        let expected = [
            1.6605 * light[0] - 0.5876 * light[1] - 0.0728 * light[2],
            -0.1246 * light[0] + 1.1329 * light[1] - 0.0083 * light[2],
            -0.0182 * light[0] - 0.1006 * light[1] + 1.1187 * light[2],
        ].map { 255 * SRGB.sample($0) }
        for (a, b) in zip(try decoded(data).samples(4, 4), expected) {
            #expect(abs(Double(a) - b) < 1)
        }
    }

    /// libvips reads what libavif does not, or everything when it is told to.
    @Test(arguments: [
        AVIFFixture(), AVIFFixture(crop: (left: 8, top: 8, width: 16, height: 16)),
        AVIFFixture(quarterTurns: 1),
    ])
    func isNeverWithoutItsOpacity(_ fixture: AVIFFixture) throws {
        let grid = PixelGrid(width: 32, height: 32) { x, _ in Pixel(9, 99, 200, UInt8(x * 8)) }
        let data = try fixture.data(grid)
        do {
            #expect(try EncodedImage(data, decoder: .vips).header.hasAlpha)
        } catch {
            let expected = ImageCodingError.unsupported(.AVIF, reason: "its opacity cannot be read")
            #expect(error as? ImageCodingError == expected)
        }
    }
}

extension PixelGrid {
    fileprivate var pixelSize: PixelSize { PixelSize(width, height) }
}
