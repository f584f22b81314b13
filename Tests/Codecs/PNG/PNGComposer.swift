import Foundation
import Vips

@testable import HalcyonTestKit

/// PNG files put together from stored samples, each row with a filter of one's choice; after the words of
/// the standard, without tables or tricks.
struct PNGComposer {
    var width: Int
    var height: Int
    /// 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA.
    var colourType: UInt8
    var depth = 8
    /// One number per sample, row by row.
    var samples: [UInt8]
    var filter: (Int) -> UInt8 = { _ in 0 }
    var palette: [[UInt8]] = []
    /// The data of a `tRNS` chunk.
    var transparency: [UInt8]?
    /// Chunks between the header and the palette.
    var extra: [(type: String, data: [UInt8])] = []
    /// Into how many `IDAT` chunks the pixels are divided.
    var parts = 1
    var interlace: UInt8 = 0

    var samplesPerPixel: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colourType]! }

    var data: Data { data(stream: StoredDeflate.zlib(filteredRows)) }

    func data(stream: [UInt8]) -> Data {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let sides = Self.big(width) + Self.big(height)
        bytes += Self.chunk("IHDR", sides + [UInt8(depth), colourType, 0, 0, interlace])
        for chunk in extra { bytes += Self.chunk(chunk.type, chunk.data) }
        if !palette.isEmpty { bytes += Self.chunk("PLTE", palette.flatMap { $0 }) }
        if let transparency { bytes += Self.chunk("tRNS", transparency) }
        for part in 0..<parts {
            let start = stream.count * part / parts
            bytes += Self.chunk("IDAT", Array(stream[start..<stream.count * (part + 1) / parts]))
        }
        return Data(bytes + Self.chunk("IEND", []))
    }

    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + data
        return big(data.count) + checked + big(Int(Checksum.crc32(checked)))
    }

    private static func big(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// All rows, each behind its filter.
    var filteredRows: [UInt8] {
        let distance = max(1, samplesPerPixel * depth / 8)
        var above: [UInt8] = []
        var result: [UInt8] = []
        for y in 0..<height {
            let row = packedRow(y)
            let kind = filter(y)
            result.append(kind)
            for i in row.indices {
                let a = i < distance ? 0 : Int(row[i - distance])
                let b = above.isEmpty ? 0 : Int(above[i])
                let c = above.isEmpty || i < distance ? 0 : Int(above[i - distance])
                result.append(
                    UInt8(truncatingIfNeeded: Int(row[i]) - Self.prediction(kind, a, b, c)))
            }
            above = row
        }
        return result
    }

    private func packedRow(_ y: Int) -> [UInt8] {
        let count = width * samplesPerPixel
        let row = samples[y * count..<(y + 1) * count]
        guard depth < 8 else { return Array(row) }
        var bytes = [UInt8](repeating: 0, count: (count * depth + 7) / 8)
        for (index, sample) in row.enumerated() {
            let bit = index * depth
            bytes[bit / 8] |= sample << UInt8(8 - depth - bit % 8)
        }
        return bytes
    }

    private static func prediction(_ kind: UInt8, _ a: Int, _ b: Int, _ c: Int) -> Int {
        switch kind {
        case 1: return a
        case 2: return b
        case 3: return (a + b) / 2
        case 4:
            let p = a + b - c
            let (pa, pb, pc) = (abs(p - a), abs(p - b), abs(p - c))
            return pa <= pb && pa <= pc ? a : pb <= pc ? b : c
        default: return 0
        }
    }

    /// The pixels a reader should give: RGBA if there is any opacity, else RGB.
    var pixels: [UInt8] {
        let hasAlpha = colourType >= 4 || transparency != nil
        let count = samplesPerPixel
        return (0..<width * height).flatMap { index -> [UInt8] in
            let pixel = Array(samples[index * count..<(index + 1) * count])
            var rgba: [UInt8]
            switch colourType {
            case 0:
                let grey = UInt8(Int(pixel[0]) * 255 / ((1 << depth) - 1))
                rgba = [grey, grey, grey, key([pixel[0]])]
            case 2: rgba = pixel + [key(pixel)]
            case 3:
                let place = Int(pixel[0])
                let alpha = transparency.map { place < $0.count ? $0[place] : 255 } ?? 255
                rgba = (place < palette.count ? palette[place] : [0, 0, 0]) + [alpha]
            case 4: rgba = [pixel[0], pixel[0], pixel[0], pixel[1]]
            default: rgba = pixel
            }
            if !hasAlpha { rgba.removeLast() }
            return rgba
        }
    }

    private func key(_ pixel: [UInt8]) -> UInt8 {
        guard let transparency else { return 255 }
        return pixel == pixel.indices.map { transparency[2 * $0 + 1] } ? 0 : 255
    }
}

/// Numbers without any pattern, the same for one seed.
struct Noise: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func bytes(_ count: Int, below limit: Int = 256) -> [UInt8] {
        (0..<count).map { _ in UInt8(Int.random(in: 0..<limit, using: &self)) }
    }
}

extension VipsImage {
    /// An image of 8-bit samples, pixel by pixel.
    static func of(_ pixels: [UInt8], width: Int, height: Int, bands: Int) throws -> VipsImage {
        let owner = NSData(data: Data(pixels))
        return try memory(
            owner.bytes, count: pixels.count, owner: owner, width: width, height: height,
            bands: bands, format: .uchar, interpretation: .srgb)
    }

    /// The samples of the rendered image.
    func samples() throws -> [UInt8] { try rendered().withUnsafeBytes { Array($0) } }
}
