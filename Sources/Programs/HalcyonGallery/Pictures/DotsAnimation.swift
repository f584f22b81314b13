import Foundation

/// An animated GIF of three dots that light up one after the other.
enum DotsAnimation {
    private static let radius = 6
    private static let gap = 10
    private static let steps = 12
    private static let width = 6 * radius + 2 * gap
    private static let height = 2 * radius
    /// Colours of a dot, from dark to lit, behind the one that is clear.
    private static let levels = 15

    static let gif: Data = {
        var gif = Data("GIF89a".utf8) + size + [0xF3, 0, 0, 0, 0, 0]
        for level in 0..<levels {
            let light = Double(level) / Double(levels - 1)
            func mixed(_ rest: Double, _ lit: Double) -> UInt8 {
                UInt8(rest + (lit - rest) * light)
            }
            gif += [mixed(190, 15), mixed(195, 107), mixed(200, 148)]
        }
        // Repeated for ever.
        gif += [0x21, 0xFF, 11] + Data("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for step in 0..<steps {
            // For 80 ms; then cleared. Colour 0 is clear.
            gif += [0x21, 0xF9, 4, 0x09, 8, 0, 0, 0, 0x2C, 0, 0, 0, 0] + size + [0, 4]
            gif += blocks(of: codes(step)) + [0]
        }
        return gif + [0x3B]
    }()

    private static var size: Data { Data([UInt8(width), 0, UInt8(height), 0]) }

    private static func colour(_ x: Int, _ y: Int, _ step: Int) -> UInt8 {
        let dot = x / (2 * radius + gap)
        let (across, down) = (2 * (x % (2 * radius + gap) - radius) + 1, 2 * (y - radius) + 1)
        guard across * across + down * down <= 4 * radius * radius else { return 0 }
        // Each dot is a third of a round later than the one before it.
        let phase = Double((step - dot * steps / 3 + steps) % steps) / Double(steps)
        return 1 + UInt8((0.5 + 0.5 * cos(phase * 2 * .pi)) * Double(levels - 1))
    }

    /// The pixels as codes of five bits. The table is cleared so often that they never get longer, so
    /// nothing has to be looked up in it.
    private static func codes(_ step: Int) -> [UInt8] {
        let (clear, end): (UInt8, UInt8) = (16, 17)
        var codes: [UInt8] = []
        for index in 0..<width * height {
            if index % 12 == 0 { codes.append(clear) }
            codes.append(colour(index % width, index / width, step))
        }
        return codes + [end]
    }

    /// Codes packed from the lowest bit on, in blocks behind their length.
    private static func blocks(of codes: [UInt8]) -> Data {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for code in codes + [0, 0] {
            bits |= UInt32(code) << count
            count += 5
            while count >= 8 {
                bytes.append(UInt8(bits & 0xFF))
                bits >>= 8
                count -= 8
            }
        }
        var blocks = Data()
        for start in stride(from: 0, to: bytes.count, by: 255) {
            let block = bytes[start..<min(start + 255, bytes.count)]
            blocks += [UInt8(block.count)] + block
        }
        return blocks
    }
}
