import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// What the walk through the chunks of a PNG file refuses before any decoder sees it.
struct PNGStructureTests {
    private static let grid = PixelGrid.gradient(width: 8, height: 8)

    /// A file with a chunk that claims more bytes than there are, before its pixels or behind them.
    private static func claiming(
        _ type: String, _ length: Int, behindPixels: Bool = false
    ) throws -> Data {
        let file = PNGFixture.data(grid)
        // Signature and header take 33 bytes; the mark of the end the last twelve.
        let place = behindPixels ? file.count - 12 : 33
        return file[..<place] + bigEndian(length, 4) + Array("\(type)Comment\0".utf8)
            + file[place...]
    }

    /// What compressing `count` zeros gives.
    private static func compressedZeros(_ count: Int) throws -> Data {
        let image = try VipsImage.create(
            "black", ["width": .int(1 << 20), "height": .int(count >> 20)])
        let png = try image.encoded("pngsave_buffer", ["compression": 9, "filter": 8])
        return PNGFixture.chunks(of: png).filter { $0.type == "IDAT" }.map(\.data).reduce(Data(), +)
    }

    private static func reason(_ data: Data) -> String? {
        do {
            _ = try Image.decoding(data)
            return nil
        } catch {
            return String(describing: error)
        }
    }

    @Test(arguments: ["tEXt", "zTXt", "iTXt", "iCCP", "eXIf", "sPLT", "abCd"], [false, true])
    func refusesChunksThatAreLongerThanTheFile(_ type: String, _ behindPixels: Bool) throws {
        for length in [1000, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            let data = try Self.claiming(type, length, behindPixels: behindPixels)
            #expect(Self.reason(data) == "The PNG data is damaged: it is cut short.")
        }
        // The same in an icon.
        let icon = ICOFixture.data([Self.grid], as: .png)
        let png = try #require(icon.firstRange(of: PNGFixture.data(Self.grid)))
        let hostile = try Self.claiming(type, 0x7FFF_FFFF, behindPixels: behindPixels)
        let head = icon[..<14] + littleEndian(hostile.count, 4) + icon[18..<png.lowerBound]
        #expect(Self.reason(head + hostile) == "The PNG data is damaged: it is cut short.")
    }

    @Test(arguments: ["zTXt", "iCCP", "iTXt"])
    func refusesMetadataThatInflatesToTooMuch(_ type: String) throws {
        let zeros = try Self.compressedZeros(20 << 20)
        let head: [UInt8] =
            type == "iTXt"
            ? Array("Comment".utf8) + [0, 1, 0, 0, 0] : Array("Comment".utf8) + [0, 0]
        let chunk = PNGFixture.Chunk(type: type, data: Data(head) + zeros)
        let data = PNGFixture.data(Self.grid, chunks: [chunk])
        #expect(
            Self.reason(data)
                == "PNG is not supported: its texts and profiles take more than 16 MiB inflated.")
        // Several that are too large only together.
        let half = try PNGFixture.Chunk(
            type: type, data: Data(head) + Self.compressedZeros(9 << 20))
        let together = PNGFixture.data(Self.grid, chunks: [half, half])
        #expect(Self.reason(together)?.contains("16 MiB") == true)
    }

    @Test func readsFilesWithTexts() throws {
        let zeros = try Self.compressedZeros(9 << 20)
        let chunks = [
            PNGFixture.Chunk(type: "tEXt", data: Data("Comment\0a text".utf8)),
            PNGFixture.Chunk(type: "zTXt", data: Data("Comment\0\0".utf8) + zeros),
            PNGFixture.Chunk(type: "iTXt", data: Data("Comment\0\0\0\0\0a text".utf8)),
        ]
        let data = PNGFixture.data(Self.grid, chunks: chunks)
        #expect(try decoded(data).data == Self.grid.bitmap(channels: 4).data)
    }
}
