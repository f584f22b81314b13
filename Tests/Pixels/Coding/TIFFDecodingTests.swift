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
        var all = [256: [width], 257: [height], 258: [8], 259: [1], 262: [1], 277: [1]]
        all[isTiled ? 324 : 273] = [8]
        all[isTiled ? 325 : 279] = [pixels.count]
        all.merge(tags) { _, new in new }
        let padded = pixels + [UInt8](repeating: 0, count: pixels.count % 2)
        let start = 8 + padded.count
        var long: [UInt8] = []
        var bytes = Array("II".utf8) + littleEndian(42, 2) + littleEndian(start, 4) + padded
        bytes += littleEndian(all.count, 2)
        let longStart = start + 2 + 12 * all.count + 4
        for (tag, values) in all.sorted(by: { $0.key < $1.key }) {
            bytes += littleEndian(tag, 2) + littleEndian(3, 2) + littleEndian(values.count, 4)
            if values.count <= 2 {
                bytes += Self.little((values + [0]).prefix(2))
            } else {
                bytes += littleEndian(longStart + long.count, 4)
                long += Self.little(values)
            }
        }
        return Data(bytes + [0, 0, 0, 0] + long)
    }

    /// The bytes are what other readers show, whatever the header says of a sign.
    @Test func readsSamplesWithASignAsIfTheyHadNone() throws {
        let eight = try decoded(tiff([339: [2]], pixels: [0, 100, 155, 255]))
        #expect(eight.depth == .eight)
        let levels = [(0, 0), (1, 0), (0, 1), (1, 1)].map { eight.samples($0, $1)[1] }
        #expect(levels == [0, 100, 155, 255])
        let sixteen = try decoded(
            tiff(width: 1, height: 2, [258: [16], 339: [2]], pixels: [0xFF, 0xFF, 0, 0x40]))
        #expect(sixteen.depth == .sixteen)
        #expect(sixteen[0, 0].green == 1 && abs(sixteen[0, 1].green - 0.25) < 0.001)
    }

    private static func little(_ samples: some Sequence<Int>) -> [UInt8] {
        samples.flatMap { littleEndian($0, 2) }
    }

    private static func isLilac(_ found: [UInt8], within most: Int = 1) -> Bool {
        zip(found, [219, 151, 239]).allSatisfy { abs(Int($0) - $1) <= most }
    }

    /// Of 8 bits and of 16, with a sign (CIELab) and without one (ICCLab), each of white beside it.
    @Test(arguments: [
        (8, [183, 37, 222, 255, 0, 0], 8), (9, [183, 165, 94, 255, 128, 128], 8),
        (8, [46990, 9474, 56832, 65535, 0, 0], 16),
        (9, [46808, 42242, 24064, 65280, 32768, 32768], 16),
    ])
    func readsLabOfAllKinds(_ photometric: Int, _ samples: [Int], _ bits: Int) throws {
        let pixels = bits == 8 ? samples.map { UInt8($0) } : Self.little(samples)
        let tags = [258: [bits, bits, bits], 262: [photometric], 277: [3]]
        let bitmap = try decoded(tiff(width: 2, height: 1, tags, pixels: pixels))
        #expect(!bitmap.hasAlpha && bitmap.depth == (bits == 16 ? .sixteen : .eight))
        #expect(Self.isLilac(bitmap.samples(0, 0)), "\(bitmap.samples(0, 0))")
        #expect(bitmap.samples(1, 0).allSatisfy { $0 >= 254 })
    }

    /// Opacity as it is, and multiplied with it.
    @Test(arguments: [2, 1])
    func readsLabWithOpacity(_ kind: Int) throws {
        let tags = [258: [8, 8, 8, 8], 262: [9], 277: [4], 338: [kind]]
        // Half of 71.8, 37 and −34 beside an opacity of 128, if they are multiplied.
        let pixels: [UInt8] =
            kind == 2 ? [183, 165, 94, 128, 0, 128, 128, 0] : [92, 147, 111, 128, 0, 128, 128, 0]
        let file = tiff(width: 2, height: 1, tags, pixels: pixels)
        #expect(try ImageInformation(of: file).hasAlpha == true)
        let bitmap = try decoded(file)
        let found = bitmap.samples(0, 0)
        // Half of a number of 8 bits may be wrong by a half.
        #expect(Self.isLilac(found, within: kind == 2 ? 1 : 5), "\(found)")
        #expect(found[3] == 128 && bitmap.samples(1, 0)[3] == 0)
    }

    /// What samples behind those of colour mean, and which of them is opacity.
    @Test(
        arguments: [
            ([0], nil), ([2], 0), ([0, 0], nil), ([0, 2], 1), ([2, 0], 0), ([0, 0, 0], nil),
            ([0, 0, 2], 2), ([], 0),
        ] as [([Int], Int?)])
    func onlyWhatIsSaidToBeOpacityIsIt(_ extras: [Int], _ opacity: Int?) throws {
        let count = max(1, extras.count)
        for (photometric, colours) in [(2, [200, 150, 0]), (1, [90]), (5, [255, 0, 255, 0])] {
            let samples = colours.count + count
            // Four and more bands of which nothing is known are no picture.
            if photometric == 1, samples > 4 { continue }
            for bits in photometric == 5 ? [8] : [8, 16] {
                var tags = [
                    258: [Int](repeating: bits, count: samples), 262: [photometric], 277: [samples],
                ]
                if !extras.isEmpty { tags[338] = extras }
                let pixel = colours + (0..<count).map { $0 == opacity ? 100 : 1 }
                let bytes =
                    bits == 8 ? pixel.map { UInt8($0) } : Self.little(pixel.map { $0 * 257 })
                let file = tiff(width: 1, height: 1, tags, pixels: bytes)
                let bitmap = try decoded(file)
                #expect(bitmap.hasAlpha == (opacity != nil))
                #expect(try ImageInformation(of: file).hasAlpha == bitmap.hasAlpha)
                let found = bitmap.samples(0, 0)
                if opacity != nil { #expect(found[3] == 100) }
                switch photometric {
                case 2: #expect(found.prefix(3) == [200, 150, 0])
                case 1: #expect(found.prefix(3) == [90, 90, 90])
                default: #expect(found[1] > found[0] && found[1] > found[2])
                }
            }
        }
    }

    @Test func coloursAreDividedByTheOpacityTheyAreMultipliedWith() throws {
        let tags = [258: [8, 8, 8, 8, 8], 262: [2], 277: [5], 338: [0, 1]]
        let file = tiff(width: 1, height: 1, tags, pixels: [100, 50, 25, 7, 128])
        let found = try decoded(file).samples(0, 0)
        #expect(zip(found, [199, 100, 50, 128]).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(found)")
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
                [258: [16, 16, 16], 262: [8], 277: [3], 339: [1, 2, 2]],
                "samples of several kinds in one pixel are not read"
            ),
            ([259: [6], 262: [6], 277: [3]], "it is compressed with old-style JPEG"),
            (
                [262: [6], 277: [3], 530: [2, 2]],
                "colours of lower resolution than brightness are not read without JPEG"
            ),
            ([262: [6], 277: [3], 530: [1, 1]], "colours as YCbCr are not read without JPEG"),
            ([259: [34712]], "its compression 34712 is not read"),
            ([262: [32803]], "it is raw data of a camera"),
            ([262: [10], 277: [3]], "its colours are ITULAB, which is not read"),
            ([258: [4, 4, 4], 262: [8], 277: [3]], "this kind of CIE L*a*b* is not read"),
            (
                [262: [1], 277: [5], 338: [0, 0, 0, 0]],
                "it has 5 bands, and only of the first it says what it shows"
            ),
            ([262: [1], 277: [6]], "it has 6 bands, and only of the first it says what it shows"),
            (
                [262: [5], 277: [5], 332: [2], 334: [5]],
                "its colours are 5 inks, which are not read"
            ),
            (
                [262: [5], 277: [3], 332: [2], 334: [3]],
                "its colours are 3 inks, which are not read"
            ),
        ] as [([Int: [Int]], String)])
    func refusesByNameWhatItDoesNotRead(_ tags: [Int: [Int]], _ reason: String) throws {
        // Eight bits for each sample where nothing else is stated.
        let bits = [Int](repeating: 8, count: tags[277]?[0] ?? 1)
        let data = tiff(
            tags.merging([258: bits]) { stated, _ in stated },
            pixels: [UInt8](repeating: 7, count: 64))
        #expect(throws: ImageCodingError.unsupported(.TIFF, reason: reason)) { try decoded(data) }
    }

    @Test func refusesTilesInSeparatePlanesByName() throws {
        let tags = [258: [8, 8, 8], 262: [2], 277: [3], 284: [2], 322: [16], 323: [16]]
        let data = tiff(tags, pixels: [UInt8](repeating: 7, count: 768), isTiled: true)
        let error = ImageCodingError.unsupported(
            .TIFF, reason: "tiles in separate planes are not read")
        #expect(throws: error) { try decoded(data) }
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
