import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import DirectCodecs

/// Frames are compared with those of libvips, which has another decoder.
struct GIFCanvasTests {
    /// Frames that cover parts of the canvas, are partly transparent, and are disposed of in all ways.
    private static func layered(
        width: Int, height: Int, transparent: Bool = true, reachesOut: Bool = true, seed: UInt64 = 1
    ) -> Data {
        var noise = Noise(seed)
        func place(upTo last: Int) -> Int { Int.random(in: 0...last, using: &noise) }
        let frames = (0..<16).map { index -> GIFFixture.Frame in
            let isFirst = index == 0
            let part = PixelGrid(
                width: isFirst ? width : Int.random(in: 1...width, using: &noise),
                height: isFirst ? height : Int.random(in: 1...height, using: &noise)
            ) { x, y in
                transparent && !isFirst && (x + y + index).isMultiple(of: 3)
                    ? .clear : Pixel(UInt8(index * 15), UInt8(x & 15), UInt8(y & 7))
            }
            return GIFFixture.Frame(
                part, disposal: GIFFixture.Disposal.allCases[index % 4],
                left: place(upTo: isFirst ? 0 : reachesOut ? width - 1 : width - part.width),
                top: place(upTo: isFirst ? 0 : reachesOut ? height - 1 : height - part.height))
        }
        return GIFFixture.data(frames, loopCount: 0)
    }

    @Test(arguments: [true, false]) func drawsWhatLibvipsDraws(_ transparent: Bool) throws {
        for (seed, (width, height)) in [(37, 29), (64, 48), (3, 50), (1, 1)].enumerated() {
            try expectFramesOfLibvips(
                Self.layered(
                    width: width, height: height, transparent: transparent, seed: UInt64(seed + 1)))
        }
    }

    /// Not those that reach out of the canvas: libvips spreads the rows over the part that is seen.
    @Test func drawsInterlacedFrames() throws {
        for height in [1, 2, 3, 4, 5, 8, 9, 31] {
            var data = Self.layered(width: 20, height: height, reachesOut: false)
            let file = try Self.file(data)
            for frame in file.frames {
                // The flags are before the colour table of 256 entries.
                data[frame.image.dataOffset - 769] |= 0x40
            }
            try expectFramesOfLibvips(data)
        }
    }

    /// Strings of all lengths: libvips writes well compressed files.
    @Test(arguments: [3, 4], [1, 40, 5000])
    func copiesLongStrings(_ bands: Int, _ flat: Int) throws {
        let pixels = (0..<90 * 60).flatMap { place -> [UInt8] in
            let shade = UInt8(place / flat * 37 & 255)
            return Array([shade, shade / 2, place % 90 < 45 ? 0 : 99, 255].prefix(bands))
        }
        let strip = try VipsImage.of(pixels, width: 90, height: 60, bands: bands).settingMetadata([
            ("page-height", .int(20)), ("delay", .ints([50, 50, 50])),
        ])
        try expectFramesOfLibvips(strip.encoded("gifsave_buffer"))
    }

    @Test(.enabled(if: Corpus.directory != nil)) func drawsRealAnimations() throws {
        for file in Corpus.files(in: "animated") where file.pathExtension == "gif" {
            try expectFramesOfLibvips(Data(contentsOf: file), file.lastPathComponent)
        }
    }

    @Test func clearsToTheBackgroundColour() throws {
        // A global table of two colours, the second one of which is the background.
        var bytes: [UInt8] = Array("GIF89a".utf8) + [3, 0, 2, 0, 0x80, 1, 0]
        bytes += [9, 8, 7, 200, 100, 50]
        for (left, width) in [(0, 3), (1, 1), (0, 1)] {
            bytes += [0x21, 0xF9, 4, 2 << 2, 5, 0, 0, 0]
            bytes += [0x2C, UInt8(left), 0, 0, 0, UInt8(width), 0, 1, 0, 0, 2]
            // Clear, as many zeros as there are pixels, end; codes of three bits.
            let codes: [Int] = [4] + [Int](repeating: 0, count: width) + [5]
            let bits = codes.reversed().reduce(0) { $0 << 3 | $1 }
            bytes += [2, UInt8(bits & 255), UInt8(bits >> 8), 0]
        }
        let data = Data(bytes + [0x3B])
        try expectFramesOfLibvips(data)
        let frames = try Self.frames(data, channels: 3)
        #expect(frames[1].prefix(9) == [200, 100, 50, 9, 8, 7, 200, 100, 50])
    }

    @Test func refusesFramesThatAreLargerThanTheCanvas() throws {
        let data = GIFFixture.data(
            [4, 5].map { GIFFixture.Frame(.solid(.red, width: $0, height: 4)) })
        #expect(throws: CodecRefusal.unusual("a frame is larger than the canvas")) {
            try data.withUnsafeBytes { try GIFFile($0).checkIsUsual($0) }
        }
    }

    @Test func survivesAnyDamage() throws {
        let data = Self.layered(width: 19, height: 17)
        var noise = Noise(4)
        for round in 0..<500 {
            var damaged = data
            if round % 3 == 0 {
                damaged = data.prefix(Int.random(in: 0..<data.count, using: &noise))
            } else {
                for _ in 0..<Int.random(in: 1...5, using: &noise) {
                    damaged[Int.random(in: 13..<data.count, using: &noise)] =
                        UInt8.random(in: 0...255, using: &noise)
                }
            }
            do {
                _ = try Self.frames(damaged, channels: 4, mostPixels: 1 << 16)
            } catch is CodecRefusal {
                // As it should be.
            }
        }
    }

    /// Bytes without any sense as compressed pixels, of every code size.
    @Test func survivesCodesOfNoise() throws {
        var noise = Noise(12)
        for round in 0..<300 {
            var bytes: [UInt8] = Array("GIF89a".utf8) + [40, 0, 40, 0, 0, 0, 0]
            bytes += [0x2C, 0, 0, 0, 0, 40, 0, 40, 0, 0, UInt8(1 + round % 8)]
            for _ in 0..<Int.random(in: 0...6, using: &noise) {
                let count = Int.random(in: 1...255, using: &noise)
                bytes += [UInt8(count)] + noise.bytes(count)
            }
            let data = Data(bytes + [0, 0x3B])
            do {
                _ = try Self.frames(data, channels: 3)
            } catch {
                #expect(error as? CodecRefusal == .damaged("the pixels of frame 0 are damaged"))
            }
        }
    }

    // MARK: Comparing

    private static func file(_ data: Data) throws -> GIFFile {
        try data.withUnsafeBytes { bytes in
            let file = GIFFile(bytes)
            try file.checkIsUsual(bytes)
            return file
        }
    }

    private static func frames(
        _ data: Data, channels: Int, mostPixels: Int = .max
    ) throws -> [[UInt8]] {
        try data.withUnsafeBytes { bytes in
            let file = try file(data)
            guard file.width * file.height <= mostPixels else { return [] }
            let canvas = GIFCanvas(file, bytes)
            return try file.frames.map { _ in
                var pixels = [UInt8](repeating: 0, count: file.width * file.height * channels)
                try canvas.next(into: &pixels, channels: channels)
                return pixels
            }
        }
    }

    private func expectFramesOfLibvips(_ data: Data, _ name: String = "") throws {
        let image = try VipsImage.load("gifload_buffer", bytes: data, ["n": -1])
        let expected = try image.convertedToSRGB().samples()
        let channels = image.hasAlpha ? 4 : 3
        let found = try Self.frames(data, channels: channels)
        #expect(found.count == image.pageCount)
        let size = image.width * image.pageHeight * channels
        for (index, frame) in found.enumerated() {
            let isSame = frame.elementsEqual(expected[index * size..<(index + 1) * size])
            #expect(isSame, "\(name) frame \(index)")
        }
    }
}
