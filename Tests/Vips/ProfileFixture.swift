import Foundation

/// Smallest ICC profiles of version 2, written field by field (ICC.1:2001).
enum ProfileFixture {
    /// A grey profile whose device values are `light ^ (1 / gamma)`.
    static func grey(gamma: Double) -> Data {
        profile(space: "GRAY", tags: [("kTRC", curve(gamma))])
    }

    /// A matrix profile with the primaries of sRGB, or with red and green exchanged.
    static func rgb(gamma: Double, swapped: Bool = false) -> Data {
        let (red, green) = ([0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971])
        return profile(
            space: "RGB ",
            tags: [
                ("rXYZ", xyz(swapped ? green : red)), ("gXYZ", xyz(swapped ? red : green)),
                ("bXYZ", xyz([0.1431, 0.0606, 0.7141])), ("rTRC", curve(gamma)),
                ("gTRC", curve(gamma)), ("bTRC", curve(gamma)),
            ])
    }

    private static func profile(space: String, tags: [(String, [UInt8])]) -> Data {
        let tags = [("wtpt", xyz([0.9642, 1, 0.8249]))] + tags
        var offset = 128 + 4 + 12 * tags.count
        var table = bigEndian(tags.count)
        var content: [UInt8] = []
        for (name, bytes) in tags {
            table += Array(name.utf8) + bigEndian(offset) + bigEndian(bytes.count)
            let padded = bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
            content += padded
            offset += padded.count
        }
        var header = bigEndian(offset) + bigEndian(0) + [2, 0x10, 0, 0]
        header += Array("mntr".utf8) + Array(space.utf8) + Array("XYZ ".utf8)
        header += Array(repeating: 0, count: 12) + Array("acsp".utf8)
        header += Array(repeating: 0, count: 28)
        header += [0.9642, 1, 0.8249].flatMap { fixed($0) }
        header += Array(repeating: 0, count: 128 - header.count)
        return Data(header + table + content)
    }

    private static func curve(_ gamma: Double) -> [UInt8] {
        let exponent = Int((gamma * 256).rounded())
        return Array("curv".utf8) + bigEndian(0) + bigEndian(1)
            + [UInt8(exponent >> 8), UInt8(exponent & 255)]
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + bigEndian(0) + values.flatMap { fixed($0) }
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        bigEndian(Int((value * 65536).rounded()))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
