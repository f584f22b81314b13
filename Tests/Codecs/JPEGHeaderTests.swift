import Foundation
import Testing

@testable import DirectCodecs

struct JPEGHeaderTests {
    private let file: Data

    init() throws { file = try JPEGFixture(width: 37, height: 21).jpeg() }

    @Test(arguments: [false, true])
    func tellsSizeAndProcess(_ isProgressive: Bool) throws {
        let file = try JPEGFixture(width: 37, height: 21).jpeg(isProgressive: isProgressive)
        let header = try #require(file.jpegHeader)
        #expect(header.width == 37 && header.height == 21)
        #expect(!header.isGrey && header.isProgressive == isProgressive)
        #expect(header.orientation == 1 && header.profile == nil)
    }

    /// A little-endian block of EXIF data with one entry.
    private static func exif(tag: UInt8) -> [UInt8] {
        let entry: [UInt8] = [tag, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        return Array("Exif\0\0II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0] + entry + [0, 0, 0, 0]
    }

    @Test(arguments: [(UInt8(0x0F), 1), (0x12, 6)])
    func takesEXIFWithoutOrientationAsUpright(_ tag: UInt8, _ orientation: Int) {
        #expect(file.inserting(0xE1, Self.exif(tag: tag)).jpegHeader?.orientation == orientation)
    }

    @Test func leavesOddEXIFToOthers() {
        let block = Self.exif(tag: 0x12)
        for odd in [Array(block.prefix(16)), Array("Exif".utf8)] {
            #expect(file.inserting(0xE1, odd).jpegHeader == nil)
        }
        #expect(file.inserting(0xE1, block).inserting(0xE1, block).jpegHeader == nil)
    }

    private static func chunk(_ number: UInt8, _ total: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        Array("ICC_PROFILE\0".utf8) + [number, total] + bytes
    }

    @Test func joinsTheChunksOfAProfile() {
        let file = file.inserting(0xE2, Self.chunk(1, 2, [1, 2, 3]))
            .inserting(0xE2, Self.chunk(2, 2, [4, 5]))
        #expect(file.jpegHeader?.profile == [1, 2, 3, 4, 5])
    }

    @Test func leavesIncompleteProfilesToOthers() {
        for (number, total) in [(1, 2), (0, 1), (2, 1)] as [(UInt8, UInt8)] {
            #expect(file.inserting(0xE2, Self.chunk(number, total, [1])).jpegHeader == nil)
        }
        let one = Self.chunk(1, 1, [1])
        #expect(file.inserting(0xE2, one).inserting(0xE2, one).jpegHeader == nil)
    }

    @Test func leavesUnusualFramesToOthers() throws {
        let frame = try #require(file.place(of: 0xC0))
        // Other processes: arithmetic coding, lossless, hierarchical.
        let codes: [[(Int, UInt8)]] = [0xC3, 0xC5, 0xC9, 0xCA, 0xF7].map { [(0, $0)] }
        // 12 bits; no height; four components; luminance coarser than chroma; no sampling at all.
        let others: [[(Int, UInt8)]] = [
            [(3, 12)], [(4, 0), (5, 0)], [(8, 4)], [(10, 0x11), (13, 0x22)], [(10, 0)],
            [(10, 0x55)],
        ]
        for changes in codes + others {
            var other = file
            for (offset, value) in changes { other[frame + offset] = value }
            #expect(other.jpegHeader == nil)
        }
    }

    @Test func leavesOtherColoursToOthers() throws {
        let transform: [UInt8] = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]
        #expect(file.inserting(0xEE, transform).jpegHeader == nil)
        let ycc: [UInt8] = transform.dropLast() + [1]
        #expect(file.inserting(0xEE, ycc).jpegHeader != nil)
        // Without a JFIF segment the names of the components tell RGB.
        let start = try #require(file.place(of: 0xE0))
        var bare = Data(file.prefix(2) + file.dropFirst(start + 1 + 16))
        #expect(bare.jpegHeader != nil)
        let frame = try #require(bare.place(of: 0xC0))
        for (index, name) in "RGB".utf8.enumerated() { bare[frame + 9 + 3 * index] = name }
        #expect(bare.jpegHeader == nil)
    }

    @Test func leavesFilesThatAreCutShortToOthers() throws {
        let scan = try #require(file.place(of: 0xDA))
        for length in 0..<scan { #expect(file.prefix(length).jpegHeader == nil) }
    }

    /// As libjpeg passes over them.
    @Test(arguments: [[0], [0xFF], [0, 0, 0], [1, 2, 0xFF, 0, 3], [0xFF, 0xFF]] as [[UInt8]])
    func passesOverBytesBetweenSegments(_ filler: [UInt8]) throws {
        let table = try #require(file.place(of: 0xDB))
        for place in [2, table - 1] {
            var padded = file
            padded.insert(contentsOf: filler, at: place)
            #expect(padded.jpegHeader == file.jpegHeader)
            #expect(try padded.jpegPixels() == file.jpegPixels())
        }
    }
}
