import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// A viewer that walks over all tiles of a picture, as the document about it says.
@Suite struct DeepZoomTests {
    private struct Document: Decodable {
        struct Tile: Decodable {
            let width: Int
            let scaleFactors: [Int]
        }

        struct Size: Decodable {
            let width: Int
            let height: Int
        }

        let width: Int
        let height: Int
        let tiles: [Tile]
        let sizes: [Size]
    }

    /// Colours that change slowly with the place, and a pattern that does not.
    private static func picture(width: Int, height: Int) throws -> Data {
        var pixels = [UInt8]()
        pixels.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                pixels.append(UInt8(x * 255 / (width - 1)))
                pixels.append(UInt8(y * 255 / (height - 1)))
                pixels.append(UInt8(128 + 100 * sin(Double(x) / 9) * cos(Double(y) / 7)))
            }
        }
        let size = PixelSize(width: width, height: height)
        let bitmap = try #require(Bitmap(pixels: Data(pixels), size: size, channels: 3))
        return try Image(bitmap: bitmap, scale: 1).encoded(
            as: .PNG, options: ImageEncodingOptions())
    }

    private func bitmap(
        _ live: LiveServer, _ path: String, width: Int, height: Int
    ) async throws -> [UInt8] {
        let answer = try await live.ask(path)
        try #require(answer.status == 200, "\(path): \(answer.text)")
        let bitmap = try Image.decoding(answer.body).bitmap()
        try #require(bitmap.size == PixelSize(width: width, height: height), "\(path)")
        try #require(bitmap.channels == 3)
        return Array(bitmap.data)
    }

    /// By how much the pixels at these places are brighter or darker in one picture than in another.
    private func brightness(of one: [UInt8], less other: [UInt8], at places: [Int]) -> Double {
        let sum = places.reduce(0) { sum, place in
            (place..<place + 3).reduce(sum) { $0 + Int(one[$1]) - Int(other[$1]) }
        }
        return abs(Double(sum) / Double(3 * places.count))
    }

    @Test func allTilesTogetherAreThePicture() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(try Self.picture(width: 3000, height: 2000), to: "wide.png")
        let live = try await LiveServer.start {
            $0.serveIIIF(folder.url.path)
            $0.sources.local.root = folder.url.path
        }
        let base = "/iiif/3/wide"
        let document = try JSONDecoder().decode(
            Document.self, from: try await live.ask("\(base)/info.json").body)
        #expect(document.width == 3000 && document.height == 2000)
        let tile = try #require(document.tiles.first)
        #expect(tile.scaleFactors == [1, 2, 4, 8])
        for factor in tile.scaleFactors {
            let width = (document.width + factor - 1) / factor
            let height = (document.height + factor - 1) / factor
            let whole = try await bitmap(
                live, "\(base)/full/\(width),\(height)/0/default.png", width: width, height: height)
            var walked = [UInt8](repeating: 0, count: whole.count)
            let step = tile.width * factor
            for y in stride(from: 0, to: document.height, by: step) {
                for x in stride(from: 0, to: document.width, by: step) {
                    let region = (
                        width: min(step, document.width - x), height: min(step, document.height - y)
                    )
                    let size = (
                        width: (region.width + factor - 1) / factor,
                        height: (region.height + factor - 1) / factor
                    )
                    let pixels = try await bitmap(
                        live,
                        "\(base)/\(x),\(y),\(region.width),\(region.height)/"
                            + "\(size.width),\(size.height)/0/default.png",
                        width: size.width, height: size.height)
                    for row in 0..<size.height {
                        let place = ((y / factor + row) * width + x / factor) * 3
                        walked.replaceSubrange(
                            place..<place + size.width * 3,
                            with: pixels[row * size.width * 3..<(row + 1) * size.width * 3])
                    }
                }
            }
            if factor == 1 {
                #expect(whole == walked)
                continue
            }
            let distances = zip(whole, walked).map { abs(Int($0) - Int($1)) }
            let square = distances.reduce(0.0) { $0 + Double($1 * $1) } / Double(distances.count)
            #expect(square == 0 || 10 * log10(255 * 255 / square) >= 45, "at 1/\(factor)")
            #expect(try #require(distances.max()) <= 3 * factor, "at 1/\(factor)")
            // No seam is seen: the lines of pixels on both sides of it are as bright as in the whole.
            for (side, length) in [(width, height), (height, width)] {
                for seam in stride(from: tile.width, to: side, by: tile.width) {
                    for place in [seam - 1, seam] {
                        let line = (0..<length).map {
                            (side == width ? $0 * width + place : place * width + $0) * 3
                        }
                        let difference = brightness(of: walked, less: whole, at: line)
                        #expect(difference <= 3, "\(place) of \(side), at 1/\(factor)")
                    }
                }
            }
        }
        for size in document.sizes {
            let path = "\(base)/full/\(size.width),\(size.height)/0/default.png"
            _ = try await bitmap(live, path, width: size.width, height: size.height)
        }
    }
}
