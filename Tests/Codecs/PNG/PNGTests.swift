import CCodecs
import Foundation
import Testing
import Vips

@testable import DirectCodecs
@testable import HalcyonTestKit

struct PNGReaderTests {
    /// A kind of pixels, as colour type and depth.
    struct Kind: Sendable, CustomTestStringConvertible {
        let colourType: UInt8
        let depth: Int
        var isTransparent = false
        var testDescription: String {
            "type \(colourType), \(depth) bits\(isTransparent ? ", tRNS" : "")"
        }
    }

    static let kinds =
        [(0, 1), (0, 2), (0, 4), (0, 8), (2, 8), (3, 1), (3, 2), (3, 4), (3, 8)].flatMap {
            [false, true].map { [type = UInt8($0.0), depth = $0.1] transparent in
                Kind(colourType: type, depth: depth, isTransparent: transparent)
            }
        } + [Kind(colourType: 4, depth: 8), Kind(colourType: 6, depth: 8)]

    /// A file of noise; smooth enough that transparent colours occur.
    static func composer(_ kind: Kind, width: Int, height: Int, seed: UInt64) -> PNGComposer {
        var noise = Noise(seed)
        let levels = kind.colourType == 2 ? 3 : 1 << kind.depth
        var composer = PNGComposer(
            width: width, height: height, colourType: kind.colourType, depth: kind.depth,
            samples: [])
        composer.samples = noise.bytes(width * height * composer.samplesPerPixel, below: levels)
        if kind.colourType == 3 {
            composer.palette = (0..<1 << kind.depth).map { _ in noise.bytes(3) }
            if kind.isTransparent {
                composer.transparency = noise.bytes(max(1, composer.palette.count / 2))
            }
        } else if kind.isTransparent {
            composer.transparency = composer.samples.prefix(composer.samplesPerPixel)
                .flatMap { [0, $0] }
        }
        return composer
    }

    @Test(arguments: kinds) func takesEveryFilterOffEveryKind(_ kind: Kind) throws {
        for (index, width) in [1, 2, 3, 4, 5, 7, 16, 33, 130].enumerated() {
            var composer = Self.composer(kind, width: width, height: 11, seed: UInt64(index + 1))
            composer.filter = { UInt8(($0 * 3 + width) % 5) }
            composer.parts = index % 4 + 1
            let data = composer.data
            #expect(try Self.pixels(data) == composer.pixels, "width \(width)")
        }
        for filter in 0..<5 {
            var composer = Self.composer(kind, width: 19, height: 6, seed: 99)
            composer.filter = { _ in UInt8(filter) }
            #expect(try Self.pixels(composer.data) == composer.pixels, "filter \(filter)")
        }
    }

    @Test(arguments: kinds) func agreesWithLibvips(_ kind: Kind) throws {
        var composer = Self.composer(kind, width: 45, height: 17, seed: 7)
        composer.filter = { UInt8($0 % 5) }
        let data = composer.data
        let image = try VipsImage.load("pngload_buffer", bytes: data)
        #expect(try Self.pixels(data) == image.convertedToSRGB().samples())
        // Row by row it is the same.
        var rows: [UInt8] = []
        try data.withUnsafeBytes { bytes in
            let file = try PNGFile(bytes)
            #expect(image.hasAlpha == file.hasAlpha)
            #expect(image.width == file.width && image.height == file.height)
            try PNGReader(file, bytes).forEachRow {
                rows += UnsafeBufferPointer(start: $0, count: file.width * file.channels)
            }
        }
        #expect(rows == composer.pixels)
    }

    @Test(arguments: ["none", "sub", "up", "avg", "paeth", "all"], [3, 4])
    func readsWhatLibpngHasWritten(_ filter: String, _ bands: Int) throws {
        let (image, expected) = try Self.picture(width: 210, height: 90, bands: bands)
        let data = try image.encoded("pngsave_buffer", ["filter": .string(filter)])
        #expect(try Self.pixels(data) == expected)
    }

    @Test func takesBlackForColoursThatThePaletteDoesNotHave() throws {
        var composer = Self.composer(Kind(colourType: 3, depth: 8), width: 9, height: 3, seed: 5)
        composer.palette = [[10, 20, 30], [200, 100, 50]]
        let data = composer.data
        #expect(try Self.pixels(data) == composer.pixels)
        #expect(try VipsImage.load("pngload_buffer", bytes: data).samples() == composer.pixels)
    }

    @Test func handsOnProfileAndEXIF() throws {
        let (image, _) = try Self.picture(width: 8, height: 8, bands: 3)
        let data = try image.encoded("pngsave_buffer", ["profile": "srgb"])
        let stored = try VipsImage.load("pngload_buffer", bytes: data).blob("icc-profile-data")
        let file = try data.withUnsafeBytes { try PNGFile($0) }
        #expect(file.profile.map { Data($0) } == stored)
        var composer = Self.composer(Kind(colourType: 0, depth: 8), width: 2, height: 2, seed: 1)
        composer.extra = [("eXIf", [1, 2, 3])]
        #expect(try composer.data.withUnsafeBytes { try PNGFile($0).exif } == [1, 2, 3])
    }

    // MARK: What is refused

    private func refusal(_ data: Data) -> CodecRefusal? {
        do {
            _ = try Self.pixels(data)
            return nil
        } catch {
            if !(error is CodecRefusal) { Issue.record(error) }
            return error as? CodecRefusal
        }
    }

    /// Of a small file that was changed.
    private func refusal(_ change: (inout PNGComposer) -> Void) -> CodecRefusal? {
        var composer = Self.small
        change(&composer)
        return refusal(composer.data)
    }

    private static var small: PNGComposer {
        composer(Kind(colourType: 2, depth: 8), width: 12, height: 10, seed: 11)
    }

    @Test func refusesUnusualKinds() {
        #expect(refusal { $0.interlace = 1 } == .unusual("it is interlaced"))
        let deep = PNGFixture.data(.solid(.red, width: 3, height: 3), as: .rgb16)
        #expect(refusal(deep) == .unusual("its depth"))
        let critical = refusal { $0.extra = [("CUST", [1])] }
        #expect(critical == .unusual("it has an unknown critical chunk"))
        let exif = Array("Raw profile type exif\0abc".utf8)
        #expect(refusal { $0.extra = [("tEXt", exif)] } == .unusual("it has metadata in its text"))
        #expect(refusal { $0.extra = [("tEXt", Array("Comment\0abc".utf8))] } == nil)
        let filter = refusal { $0.filter = { $0 == 4 ? 5 : 0 } }
        #expect(filter == .damaged("a row has an unknown filter"))
    }

    @Test func seesWrongChecksums() throws {
        var palette = Self.composer(Kind(colourType: 3, depth: 4), width: 5, height: 5, seed: 2)
        palette.transparency = [1, 2]
        for chunk in ["IHDR", "PLTE", "tRNS", "IDAT"] {
            var data = palette.data
            let name = try #require(data.firstRange(of: Data(chunk.utf8)))
            data[name.upperBound + 1] ^= 1
            #expect(refusal(data) == .damaged("a checksum is wrong"), "\(chunk)")
        }
    }

    @Test func refusesWrongChecksumsAndCountsOfPixels() {
        let rows = Self.small.filteredRows
        var wrong = StoredDeflate.zlib(rows)
        wrong[wrong.count - 1] ^= 1
        let counts = [Array(rows.dropLast()), rows + [0], []]
        for stream in [wrong] + counts.map({ StoredDeflate.zlib($0) }) {
            let data = Self.small.data(stream: stream)
            #expect(refusal(data) == .damaged("its pixels cannot be inflated"))
        }
    }

    @Test func refusesLyingSizesBeforeTakingMemory() {
        let stream = StoredDeflate.zlib(Self.small.filteredRows)
        func refusal(_ width: Int, _ height: Int) -> CodecRefusal? {
            var large = Self.small
            (large.width, large.height) = (width, height)
            return self.refusal(large.data(stream: stream))
        }
        for (width, height) in [(60_000, 60_000), (1_000_000, 33), (1, 1 << 30), (0, 4), (4, 0)] {
            #expect(refusal(width, height) == .unusual("its size"))
        }
        #expect(refusal(3000, 3000) == .damaged("it has too few pixels"))
    }

    @Test func stopsInflatingABomb() throws {
        // Sixteen million zeros, far more than the picture has pixels.
        let zeros = [UInt8](repeating: 0, count: 16 << 20)
        let bound = cpng_compressed_bound(zeros.count)
        let bomb = [UInt8](unsafeUninitializedCapacity: bound) { output, size in
            size = cpng_compress(zeros, zeros.count, 9, output.baseAddress, bound)
        }
        #expect(bomb.count < 100_000)
        let pixels = refusal(Self.small.data(stream: bomb))
        #expect(pixels == .damaged("its pixels cannot be inflated"))
        let profile = refusal { $0.extra = [("iCCP", Array("bomb\0\0".utf8) + bomb)] }
        #expect(profile == .unusual("its profile is longer than usual"))
    }

    @Test(arguments: kinds) func survivesAnyDamage(_ kind: Kind) throws {
        var composer = Self.composer(kind, width: 23, height: 14, seed: 31)
        composer.filter = { UInt8($0 % 5) }
        composer.parts = 2
        let data = composer.data
        for length in stride(from: 0, to: data.count, by: 5) {
            #expect(refusal(data.prefix(length)) != nil, "\(length) bytes")
        }
        var noise = Noise(77)
        for _ in 0..<120 {
            var damaged = data
            for _ in 0..<Int.random(in: 1...3, using: &noise) {
                let place = Int.random(in: 0..<data.count, using: &noise)
                damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &noise)
            }
            if refusal(damaged) == nil {
                // Behind the pixels no checksum is looked at.
                #expect(try Self.pixels(damaged) == composer.pixels)
            }
        }
    }

    @Test func survivesAnyDamageBehindRightChecksums() throws {
        var noise = Noise(5)
        for kind in Self.kinds {
            for _ in 0..<25 {
                var composer = Self.composer(kind, width: 9, height: 8, seed: 3)
                var stream = StoredDeflate.zlib(composer.filteredRows)
                let place = Int.random(in: 0..<stream.count, using: &noise)
                stream[place] = UInt8.random(in: 0...255, using: &noise)
                if Bool.random(using: &noise) { composer.palette = [noise.bytes(3)] }
                if Bool.random(using: &noise) {
                    composer.transparency = noise.bytes(Int.random(in: 0...7, using: &noise))
                }
                if Bool.random(using: &noise) {
                    composer.extra = [("iCCP", noise.bytes(Int.random(in: 0...9, using: &noise)))]
                }
                composer.width = Int.random(in: 1...12, using: &noise)
                _ = refusal(composer.data(stream: stream))
            }
        }
    }

    // MARK: What it is compared with

    static func pixels(_ data: Data) throws -> [UInt8] {
        try data.withUnsafeBytes { bytes in
            let file = try PNGFile(bytes)
            var pixels = [UInt8](repeating: 0, count: file.width * file.height * file.channels)
            try PNGReader(file, bytes).read(into: &pixels)
            return pixels
        }
    }

    /// A smooth picture with some noise, for libvips, and its pixels.
    static func picture(width: Int, height: Int, bands: Int) throws -> (VipsImage, [UInt8]) {
        var noise = Noise(UInt64(width * height + bands))
        let pixels = (0..<width * height).flatMap { place -> [UInt8] in
            let (x, y) = (place % width, place / width)
            return (0..<bands).map {
                UInt8((x * ($0 + 2) / 2 + y + Int.random(in: 0..<4, using: &noise)) & 255)
            }
        }
        return (try .of(pixels, width: width, height: height, bands: bands), pixels)
    }
}

struct PNGWriterTests {
    private func file(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ channels: Int
    ) throws -> Data {
        let file = PNGWriter.file(of: pixels, width: width, height: height, channels: channels)
        return Data(try #require(file))
    }

    /// Both our reader and libpng give back the pixels.
    private func expectPixels(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ channels: Int
    ) throws {
        let data = try file(pixels, width, height, channels)
        #expect(try PNGReaderTests.pixels(data) == pixels)
        let image = try VipsImage.load("pngload_buffer", bytes: data, ["fail_on": "warning"])
        #expect(try image.samples() == pixels)
        #expect(image.bands == channels)
    }

    @Test(arguments: [3, 4]) func writesWhatOthersRead(_ channels: Int) throws {
        for (width, height) in [(1, 1), (1, 40), (40, 1), (5, 7), (129, 66), (240, 160)] {
            let (_, pixels) = try PNGReaderTests.picture(
                width: width, height: height, bands: channels)
            try expectPixels(pixels, width, height, channels)
        }
    }

    @Test func leavesOutOpacityOfOpaquePixels() throws {
        let width = 700
        var pixels = [UInt8](repeating: 255, count: width * 3 * 4)
        for place in 0..<width * 3 { pixels[4 * place + place % 3] = UInt8(place & 255) }
        let opaque = try file(pixels, width, 3, 4)
        let colours = (0..<width * 3).flatMap { pixels[4 * $0..<4 * $0 + 3] }
        #expect(try PNGReaderTests.pixels(opaque) == colours)
        pixels[pixels.count - 1] = 254
        #expect(try PNGReaderTests.pixels(file(pixels, width, 3, 4)) == pixels)
    }

    /// The usual rule: the least sum of the bytes taken as signed, the first of equals.
    @Test(arguments: [3, 4]) func choosesTheFilterWithTheLeastSum(_ channels: Int) throws {
        let (width, height) = (61, 40)
        var (_, pixels) = try PNGReaderTests.picture(width: width, height: height, bands: channels)
        // Some rows of one colour, some like the one above.
        let row = width * channels
        for y in [7, 20, 21] {
            for x in 0..<row { pixels[y * row + x] = UInt8(100 + x % channels) }
        }
        let rowsWith = { (filter: UInt8) in
            PNGComposer(
                width: width, height: height, colourType: channels == 3 ? 2 : 6,
                samples: pixels, filter: { _ in filter }
            ).filteredRows
        }
        let candidates = (0..<5).map { rowsWith(UInt8($0)) }
        let data = try file(pixels, width, height, channels)
        let written = try data.withUnsafeBytes { bytes in
            try PNGReader(PNGFile(bytes), bytes).filters
        }
        for y in 0..<height {
            let sums = candidates.map { rows in
                rows[y * (row + 1) + 1..<(y + 1) * (row + 1)].reduce(0) {
                    $0 + min(Int($1), 256 - Int($1))
                }
            }
            let best = sums.indices.min { sums[$0] < sums[$1] }
            #expect(Int(written[y]) == best, "row \(y)")
        }
    }

    @Test(arguments: [(0, 1, 3), (1, 1, 1), (1 << 31, 1 << 31, 4)])
    func refusesWhatItCannotHold(_ width: Int, _ height: Int, _ channels: Int) {
        let pixels: [UInt8] = [1, 2, 3]
        let file = PNGWriter.file(of: pixels, width: width, height: height, channels: channels)
        #expect(file == nil)
    }
}
