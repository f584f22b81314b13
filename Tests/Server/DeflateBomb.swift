import Foundation

/// Zeros that were made small: 258 of them in 13 bits, so that 16 MiB have some 100 KB (RFC 1951).
enum DeflateBomb {
    /// Some bytes, and behind them at least `zeros` zeros: a block of its fixed codes.
    private static func stream(_ start: Data, _ zeros: Int) -> Data {
        var bits: [UInt8] = []
        var (current, count) = (UInt8(0), 0)
        /// The lowest bit first.
        func put(_ value: Int, _ length: Int) {
            for index in 0..<length {
                current |= UInt8(value >> index & 1) << UInt8(count)
                count += 1
                if count == 8 { (_, current, count) = (bits.append(current), 0, 0) }
            }
        }
        /// A code of Huffman, the highest bit first.
        func code(_ value: Int, _ length: Int) {
            for index in (0..<length).reversed() { put(value >> index, 1) }
        }
        put(1, 1)
        // The fixed codes.
        put(1, 2)
        for byte in start {
            byte < 144 ? code(0x30 + Int(byte), 8) : code(0x190 + Int(byte) - 144, 9)
        }
        code(0x30, 8)
        // 258 bytes more of the same, from one byte before.
        for _ in 0..<zeros / 258 {
            code(0xC5, 8)
            code(0, 5)
        }
        code(0, 7)
        put(0, 7)
        return Data(bits)
    }

    /// With the head of gzip (RFC 1952), and without its checksum.
    static func gzip(_ start: Data, zeros: Int) -> Data {
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        return Data(head) + stream(start, zeros) + Data(count: 8)
    }
}
