import Foundation

/// A small picture with words in it that a worker obeys.
struct TrialPicture {
    /// Does nothing but being decoded.
    static let good = "good"

    /// Words before the action, among the first 200 bytes.
    static let marker = "halcyon-trial: "

    let action: String
    /// Another number makes another picture.
    let seed: Int
    var width = 16
    var height = 12

    /// From `trial:ACTION`, `trial:ACTION#SEED`, or the same with `@WIDTHxHEIGHT`.
    init?(_ name: String) {
        guard name.hasPrefix("trial:") else { return nil }
        let parts = name.dropFirst(6).split(separator: "@", maxSplits: 1)
        let words = parts.first?.split(separator: "#", maxSplits: 1) ?? []
        guard let action = words.first else { return nil }
        self.init(String(action), seed: words.count > 1 ? Int(words[1]) ?? 0 : 0)
        let lengths = parts.count > 1 ? parts[1].split(separator: "x").compactMap { Int($0) } : []
        if lengths.count == 2 { (width, height) = (lengths[0], lengths[1]) }
    }

    init(_ action: String, seed: Int) {
        self.action = action
        self.seed = seed
    }

    /// Red, green and blue of all pixels.
    var pixels: [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(3 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                pixels.append(UInt8(truncatingIfNeeded: 7 &* x &+ seed))
                pixels.append(UInt8(truncatingIfNeeded: 5 &* y &+ 3 &* seed))
                pixels.append(UInt8(truncatingIfNeeded: seed >> 8))
            }
        }
        return pixels
    }

    /// A TIFF file without compression, or a drawing.
    var data: Data {
        if let drawing { return Data(drawing.utf8) }
        let pixels = pixels
        var words = Array("\(Self.marker)\(action) #\(seed)\0".utf8)
        if words.count % 2 == 1 { words.append(0) }
        // Of 8, 8, 8 bits.
        let bits: [UInt8] = [8, 0, 8, 0, 8, 0]
        let start = 8 + words.count
        let place = start + pixels.count + pixels.count % 2
        let entries: [(UInt16, UInt16, Int, Int)] = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, place), (259, 3, 1, 1),
            (262, 3, 1, 2), (270, 2, words.count, 8), (273, 4, 1, start),
            (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, pixels.count),
        ]
        let directory = place + bits.count
        var file = Data("II*\0".utf8)
        func put<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { file.append(contentsOf: $0) }
        }
        put(UInt32(directory))
        file.append(contentsOf: words)
        file.append(contentsOf: pixels)
        if file.count % 2 == 1 { file.append(0) }
        file.append(contentsOf: bits)
        put(UInt16(entries.count))
        for (tag, kind, count, value) in entries {
            put(tag)
            put(kind)
            put(UInt32(count))
            put(UInt32(value))
        }
        put(UInt32(0))
        return file
    }

    /// Drawings that end librsvg 2.54, or have it draw for ever.
    private var drawing: String? {
        switch action {
        case "svg-tile":
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" id="n\(seed)"><filter id="f"><feFlood \
            flood-color="lime" x="80" y="9" width="9" height="9" result="a"/><feTile in="a" x="0" y="0" \
            width="90" height="90"/></filter><rect x="9" y="9" width="50" height="50" filter="url(#f)"/></svg>
            """
        case "svg-language":
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" id="n\(seed)"><style>rect:lang(x-word)\
            {fill:red}</style><g xml:lang="en"><rect width="50" height="50"/></g></svg>
            """
        case "svg-turbulence":
            """
            <svg id="n\(seed)"><filter id="a"><feTurbulence numOctaves="44444444444"/></filter>\
            <path d="m9 9 H1 V1" filter="url(#a)"/></svg>
            """
        default: nil
        }
    }
}
