import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Parts of pictures, read off the file or from pixels in memory.
struct ImageAreasTests {
    private static let grid = PixelGrid.gradient(width: 90, height: 50)

    private static func tiff(_ bitmap: Bitmap) throws -> Data {
        try bitmap.vipsImage().encoded("tiffsave_buffer", ["compression": "deflate"])
    }

    /// Files that are read row by row, with how far their pixels may be from those of another decoder.
    private static func files() throws -> [(data: Data, tolerance: Double)] {
        let bitmap = try grid.bitmap(channels: 3)
        return [
            (PNGFixture.data(grid, as: .rgb8), 0), (PNGFixture.data(grid, as: .rgba8), 0),
            (try tiff(bitmap), 0), (try encoded(bitmap, as: .JPEG), 3),
        ]
    }

    private static func cut(_ bitmap: Bitmap, _ area: PixelArea) throws -> Bitmap {
        try Bitmap(
            rendering: bitmap.vipsImage().cropped(
                left: area.left, top: area.top, width: area.size.width, height: area.size.height))
    }

    @Test func anAreaHasThePixelsOfTheWholePicture() throws {
        for (data, tolerance) in try Self.files() {
            let whole = try decoded(data)
            for area in [
                PixelArea(left: 0, top: 0, size: PixelSize(90, 50)),
                PixelArea(left: 13, top: 7, size: PixelSize(20, 30)),
                PixelArea(left: 70, top: 41, size: PixelSize(20, 9)),
            ] {
                let image = try Image.decoding(data)
                #expect(image.isReadByAreas)
                let part = try image.bitmap(of: area, reducedBy: 1)
                #expect(part.size == area.size)
                let expected = try Self.cut(whole, area)
                #expect(try part.greatestDifference(from: expected) <= tolerance)
                #expect(!image.isRendered)
                // From memory it is the same.
                let rendered = try Image.rendering(data)
                #expect(!rendered.isReadByAreas)
                let same = try rendered.bitmap(of: area, reducedBy: 1)
                #expect(try same.greatestDifference(from: expected) == 0)
            }
        }
    }

    @Test(arguments: [2, 4, 8]) func aReducedAreaIsThatOfTheReducedPicture(factor: Int) throws {
        for (data, _) in try Self.files() {
            let image = try Image.decoding(data)
            let size = PixelSize(90, 50).reduced(by: factor)
            let whole = try image.bitmap(
                of: PixelArea(left: 0, top: 0, size: size), reducedBy: factor)
            #expect(whole.size == size)
            let area = PixelArea(
                left: 3, top: 2, size: PixelSize(size.width - 3, size.height - 2))
            let part = try image.bitmap(of: area, reducedBy: factor)
            #expect(try part.greatestDifference(from: Self.cut(whole, area)) == 0)
            // Red grows from the left to the right, and green downwards.
            for (x, y) in [(0, 0), (size.width / 2, size.height / 2)] {
                let middle = { (place: Int) in (Double(place) + 0.5) * Double(factor) - 0.5 }
                let red = middle(x) * 255 / 89
                let green = middle(y) * 255 / 49
                #expect(abs(Double(whole.rgb(x, y)[0]) - red) < 8)
                #expect(abs(Double(whole.rgb(x, y)[1]) - green) < 8)
            }
        }
    }

    @Test(arguments: 1...8) func areasAreThoseOfThePictureAsShown(orientation: Int) throws {
        let bitmap = try Self.grid.bitmap(channels: 3)
        let files = [
            EXIFFixture.turned(try encoded(bitmap, as: .JPEG), orientation),
            PNGFixture.data(Self.grid, as: .rgb8, chunks: [EXIFFixture.chunk(orientation)]),
        ]
        for data in files {
            let image = try Image.decoding(data)
            let whole = try decoded(data)
            let area = PixelArea(left: 11, top: 5, size: PixelSize(25, 40))
            let part = try image.bitmap(of: area, reducedBy: 1)
            #expect(part.size == area.size)
            #expect(try part.greatestDifference(from: Self.cut(whole, area)) <= 3)
            let size = whole.size.reduced(by: 4)
            let reduced = try image.bitmap(
                of: PixelArea(left: 0, top: 0, size: size), reducedBy: 4)
            #expect(reduced.size == size)
            for (x, y) in [(1, 1), (size.width - 2, size.height - 2)] {
                for channel in 0..<2 {
                    let difference =
                        Int(reduced.rgb(x, y)[channel])
                        - Int(whole.rgb(4 * x + 2, 4 * y + 2)[channel])
                    #expect(abs(difference) < 20)
                }
            }
        }
    }

    @Test func transparentPixelsLendNoColour() throws {
        let grid = PixelGrid(width: 8, height: 8) { x, _ in
            x.isMultiple(of: 2) ? Pixel(200, 100, 50, 255) : Pixel(0, 0, 0, 0)
        }
        let image = try Image.decoding(PNGFixture.data(grid))
        let reduced = try image.bitmap(
            of: PixelArea(left: 0, top: 0, size: PixelSize(4, 4)), reducedBy: 2)
        #expect(reduced.samples(1, 1).prefix(3) == [200, 100, 50])
        #expect(abs(Int(reduced.samples(1, 1)[3]) - 128) <= 1)
    }

    @Test func anAreaIsMadeOfTiles() async throws {
        let image = try Image.decoding(PNGFixture.data(Self.grid, as: .rgb8))
        let tiles = try await image.tiles(
            of: PixelArea(left: 10, top: 0, size: PixelSize(80, 50)), reducedBy: 1, side: 32)
        #expect(
            tiles.map(\.size) == [
                PixelSize(32, 32), PixelSize(32, 32), PixelSize(16, 32), PixelSize(32, 18),
                PixelSize(32, 18), PixelSize(16, 18),
            ])
        let whole = try Self.grid.bitmap(channels: 3)
        #expect(tiles[0].rgb(0, 0) == whole.rgb(10, 0))
        #expect(tiles[5].rgb(15, 17) == whole.rgb(89, 49))
    }

    @Test func aPictureThatCouldNotBeDecodedWholeIsReadInParts() throws {
        let data = PNGFixture.data(.gradient(width: 600, height: 600), as: .rgb8)
        // Too little for a million bytes.
        let limits = DecodingLimits(maximumPixelCount: nil, maximumMemory: 900_000)
        let image = try Image.decoding(data, limits: limits)
        #expect(throws: ImageCodingError.self) { try image.bitmap() }
        let area = PixelArea(left: 300, top: 500, size: PixelSize(100, 100))
        #expect(try image.bitmap(of: area, reducedBy: 1).size == PixelSize(100, 100))
    }

    @Test func filesWhoseRowsDoNotComeInOrderAreDecodedWhole() throws {
        let progressive = try ProgressiveFixture().data
        #expect(try !Image.decoding(progressive).isReadByAreas)
        let bitmap = try Self.grid.bitmap(channels: 3)
        let image = try Image.decoding(encoded(bitmap, as: .WebP, isLossless: true))
        #expect(!image.isReadByAreas)
        let area = PixelArea(left: 4, top: 9, size: PixelSize(5, 6))
        let part = try image.bitmap(of: area, reducedBy: 1)
        #expect(try part.greatestDifference(from: Self.cut(bitmap, area)) == 0)
    }
}
