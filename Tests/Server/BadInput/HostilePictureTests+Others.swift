import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Animations and drawings, and formats beside JPEG and PNG.
extension HostilePictureTests {
    /// A number in some bytes, the lowest first.
    private static func little(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Frames of one pixel on a square.
    private static func gif(canvas: Int, frames: Int, left: Int = 0) -> Data {
        let palette: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0]
        var file = Data("GIF89a".utf8)
        for part in [little(canvas, 2), little(canvas, 2), [0x91, 0, 0], palette] { file += part }
        file += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        var frame: [UInt8] = [0x21, 0xF9, 4, 0, 1, 0, 0, 0, 0x2C]
        frame += little(left, 2)
        frame += [0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        for _ in 0..<frames { file.append(contentsOf: frame) }
        return file + [0x3B]
    }

    private static func riff(_ chunks: [(String, Data)]) -> Data {
        var content = Data("WEBP".utf8)
        for (name, data) in chunks {
            content += Data(name.utf8) + Data(little(data.count)) + data
            if !data.count.isMultiple(of: 2) { content.append(0) }
        }
        return Data("RIFF".utf8) + Data(little(content.count)) + content
    }

    /// A canvas with these features, its sides less one in three bytes each.
    private static func canvas(_ flags: UInt8, _ side: Int) -> (String, Data) {
        let bytes = little(side - 1, 3)
        return ("VP8X", Data([flags, 0, 0, 0] + bytes + bytes))
    }

    /// A TIFF file of grey tiles, with one number for each of these tags.
    private static func tiff(_ tags: [Int: Int]) -> Data {
        // 8 bits, not compressed, black is 0, one sample.
        let all = tags.merging([258: 8, 259: 1, 262: 1, 277: 1]) { $1 }
        // The tile is behind the head.
        var file = Data("II*\0".utf8)
        file += little(8 + 256)
        file += Data(repeating: 0x80, count: 256)
        file += little(all.count, 2)
        for (tag, value) in all.sorted(by: { $0.key < $1.key }) {
            for (number, count) in [(tag, 2), (4, 2), (1, 4), (value, 4)] {
                file += little(number, count)
            }
        }
        return file + Data(little(0))
    }

    private static let space = "xmlns=\"http://www.w3.org/2000/svg\""

    static let others: [Row] =
        [
            Row("GIF of 100,000 frames", 200, 422) { gif(canvas: 2, frames: 100_000) },
            Row("GIF of 65,535 × 65,535 with frames of 1 × 1", 422) {
                gif(canvas: 65535, frames: 3)
            },
            Row("GIF with frames beyond its edge", 200, 422) {
                gif(canvas: 4, frames: 3, left: 65535)
            },
            Row("WebP of an animation with a canvas of 4 GB", 422) {
                riff([canvas(2, 32_768), ("ANIM", Data(count: 6)), ("ANMF", Data(count: 24))])
            },
            Row("WebP without a picture", 422) { riff([canvas(0, 9)]) },
            Row("WebP with a profile of 15 MB", 200, 422) {
                // The picture of the sample, behind a head that announces the profile.
                let picture = try LiveServer.sample("coffee.webp").dropFirst(12)
                let kind = String(decoding: picture.prefix(4), as: UTF8.self)
                try #require(["VP8 ", "VP8L"].contains(kind))
                let size = try Image.decoding(try LiveServer.sample("coffee.webp")).pixelSize
                var head = canvas(0x20, size.width)
                let height = size.height - 1
                head.1.replaceSubrange(7..<10, with: [UInt8(height & 0xFF), UInt8(height >> 8), 0])
                return riff([head, ("ICCP", Data(count: 15_000_000)), (kind, picture.dropFirst(8))])
            },
            Row("WebP that claims 4 GiB", 422) {
                var file = try LiveServer.sample("coffee.webp")
                file.replaceSubrange(4..<8, with: [0xFE, 0xFF, 0xFF, 0xFF])
                return file
            },
            Row("AVIF of boxes of garbage", 422) {
                var file = [UInt8](try LiveServer.sample("kingfisher.avif"))
                for index in 40..<200 { file[index] = 0xA5 }
                return Data(file)
            },
            Row("JXL of two bytes", 422) { Data([0xFF, 0x0A]) },
            Row("BMP of a negative width", 422) {
                // Behind the head of the file and the length of that of the picture.
                var file = BMPFixture.data(.gradient(width: 4, height: 4))
                file.replaceSubrange(18..<22, with: little(-4))
                return file
            },
            Row("ICO of many pictures", 200, 422) {
                ICOFixture.data((1...64).map { .gradient(width: $0, height: $0) })
            },
            Row("TIFF of 10,000 directories", 422) {
                // Each has no entry, and leads to the next.
                var file = Data("II*\0".utf8) + [8, 0, 0, 0]
                for index in 1...10_000 { file += [0, 0] + little(8 + 6 * index) }
                return file
            },
            Row("TIFF of 16 × 16 with a tile of 65,536 × 65,536", 200, 422) {
                tiff([256: 16, 257: 16, 322: 65536, 323: 65536, 324: 8, 325: 64])
            },
            Row("TIFF of 30,000 × 30,000 in tiles that are one", 422) {
                tiff([256: 30_000, 257: 30_000, 322: 16, 323: 16, 324: 8, 325: 256])
            },
            Row("TIFF with a tile of 4 GB", 200, 422) {
                tiff([256: 16, 257: 16, 322: 16, 323: 16, 324: 8, 325: 0xFFFF_FFFF])
            },
            Row("TIFF with tiles of no width", 422) {
                tiff([256: 16, 257: 16, 322: 0, 323: 16, 324: 8, 325: 256])
            },
            Row("TIFF whose directory is itself", 422) {
                Data("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 8, 0, 0, 0]
            },
            Row("TIFF with places of 64 bits, and nothing else", 422) {
                Data(
                    [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]
                        + Array(repeating: 0, count: 16))
            },
            Row("SVG of 100,000 levels", 200, 422) {
                let levels = ["<g>", "</g>"].map { String(repeating: $0, count: 100_000) }
                return Data("<svg \(space)>\(levels.joined())</svg>".utf8)
            },
            Row("SVG with a view of 10⁹ × 10⁹", 200, 422) {
                Data("<svg \(space) viewBox=\"0 0 1000000000 1000000000\"><g/></svg>".utf8)
            },
        ]

    @Test(arguments: others) func anAnimationOrAnotherThatIsWrongIsDrawnOrRefused(row: Row)
        async throws
    {
        // The name tells the format, as those of most files do.
        let format = row.testDescription.prefix { $0 != " " }.lowercased()
        try await expect(row, as: "a.\(format)")
    }
}
