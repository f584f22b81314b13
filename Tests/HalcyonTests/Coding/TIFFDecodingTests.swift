import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct TIFFDecodingTests {
    /// A little-endian file of one strip; tags are those of TIFF 6.0.
    private func tiff(
        width: Int = 2, height: Int = 2, _ tags: [Int: [Int]] = [:], pixels: [UInt8],
        isTiled: Bool = false
    ) -> Data {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var all = [256: [width], 257: [height], 258: [8], 259: [1], 262: [1], 277: [1]]
        all[isTiled ? 324 : 273] = [8]
        all[isTiled ? 325 : 279] = [pixels.count]
        all.merge(tags) { _, new in new }
        let start = 8 + pixels.count + pixels.count % 2
        var long: [UInt8] = []
        var bytes: [UInt8] = Array("II".utf8) + little(42, 2) + little(start, 4) + pixels
        bytes += [UInt8](repeating: 0, count: pixels.count % 2) + little(all.count, 2)
        let longStart = start + 2 + 12 * all.count + 4
        for (tag, values) in all.sorted(by: { $0.key < $1.key }) {
            bytes += little(tag, 2) + little(3, 2) + little(values.count, 4)
            if values.count <= 2 {
                bytes += (values + [0]).prefix(2).flatMap { little($0, 2) }
            } else {
                bytes += little(longStart + long.count, 4)
                long += values.flatMap { little($0, 2) }
            }
        }
        return Data(bytes + [0, 0, 0, 0] + long)
    }

    /// The bytes are what other readers show, whatever the header says of a sign.
    @Test func readsSamplesWithASignAsIfTheyHadNone() throws {
        let eight = try decoded(tiff([339: [2]], pixels: [0, 100, 155, 255]))
        #expect(eight.depth == .eight)
        #expect(
            [(0, 0), (1, 0), (0, 1), (1, 1)].map { eight.samples($0, $1)[1] } == [0, 100, 155, 255])
        let sixteen = try decoded(
            tiff(width: 1, height: 2, [258: [16], 339: [2]], pixels: [0xFF, 0xFF, 0, 0x40]))
        #expect(sixteen.depth == .sixteen)
        #expect(sixteen[0, 0].green == 1)
        #expect(abs(sixteen[0, 1].green - 0.25) < 0.001)
    }

    /// White, and CIE L*a*b* 53.2, 80, 67, which is the red of sRGB.
    @Test func readsLabOfEightBits() throws {
        let data = tiff(
            width: 2, height: 1, [258: [8, 8, 8], 262: [8], 277: [3]],
            pixels: [255, 0, 0, 136, 80, 67])
        let image = try Image.decoding(data)
        #expect(!image.hasAlpha)
        let bitmap = try image.bitmap()
        #expect(bitmap.samples(0, 0).allSatisfy { $0 >= 253 })
        let red = bitmap.samples(1, 0)
        #expect(red[0] >= 245 && red[1] <= 25 && red[2] <= 25)
    }

    @Test(
        arguments: [
            ([258: [32], 339: [2]], "integer samples of 32 bits are not read"),
            ([258: [32]], "integer samples of 32 bits are not read"),
            ([258: [16], 339: [3]], "floating-point samples of 16 bits are not read"),
            ([258: [64], 339: [6]], "complex samples are not read"),
            ([258: [12]], "12 bits per sample are not read"),
            ([258: [5, 6, 5], 262: [2], 277: [3]], "5 bits per sample are not read"),
            (
                [258: [8, 8, 16], 262: [2], 277: [3]],
                "samples of several depths in one pixel are not read"
            ),
            (
                [258: [8, 8, 8], 259: [6], 262: [6], 277: [3]],
                "it is compressed with old-style JPEG"
            ),
            (
                [258: [8, 8, 8], 262: [6], 277: [3], 530: [2, 2]],
                "colours of lower resolution than brightness are not read without JPEG"
            ),
            (
                [258: [8, 8, 8], 262: [6], 277: [3], 530: [1, 1]],
                "colours as YCbCr are not read without JPEG"
            ),
            ([259: [34712]], "its compression 34712 is not read"),
            ([262: [32803]], "it is raw data of a camera"),
        ] as [([Int: [Int]], String)])
    func refusesByNameWhatItDoesNotRead(_ tags: [Int: [Int]], _ reason: String) throws {
        let data = tiff(tags, pixels: [UInt8](repeating: 7, count: 64))
        #expect(throws: ImageCodingError.unsupported(.TIFF, reason: reason)) {
            try decoded(data)
        }
    }

    @Test func refusesTilesInSeparatePlanesByName() throws {
        let tags = [258: [8, 8, 8], 262: [2], 277: [3], 284: [2], 322: [16], 323: [16]]
        let data = tiff(tags, pixels: [UInt8](repeating: 7, count: 768), isTiled: true)
        #expect(
            throws: ImageCodingError.unsupported(
                .TIFF, reason: "tiles in separate planes are not read")
        ) { try decoded(data) }
    }

    @Test func survivesDirectoriesOfNoise() throws {
        var generator = SeededGenerator(state: 77)
        let whole = tiff([258: [8, 8, 8], 262: [2], 277: [3]], pixels: [UInt8](1...12))
        for _ in 0..<400 {
            var data = whole
            for _ in 0..<3 {
                let place = Int.random(in: 4..<data.count, using: &generator)
                data[place] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = TIFFHeader(data)?.refusal
        }
        #expect(TIFFHeader(whole)?.refusal == nil)
        #expect(TIFFHeader(whole.prefix(9)) == nil)
    }
}
