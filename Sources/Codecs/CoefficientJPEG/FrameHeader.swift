/// What the frame header of a file tells, as far as this decoder goes.
struct FrameHeader {
    struct Component {
        let identifier: UInt8
        let horizontal: Int
        let vertical: Int
        let quantisation: Int
    }

    let width: Int
    let height: Int
    let components: [Component]
    /// Whether the picture comes in several scans, from coarse to fine.
    let isProgressive: Bool

    /// From the content of an SOF0, SOF1 or, if progressive, SOF2 segment.
    init(_ content: ArraySlice<UInt8>, isProgressive: Bool) throws(JPEGRefusal) {
        self.isProgressive = isProgressive
        let bytes = Array(content)
        guard bytes.count >= 6 else { throw .segment }
        guard bytes[0] == 8 else { throw .precision }
        height = Int(bytes[1]) << 8 | Int(bytes[2])
        width = Int(bytes[3]) << 8 | Int(bytes[4])
        guard height > 0 else { throw .height }
        guard width > 0 else { throw .segment }
        guard bytes[5] == 1 || bytes[5] == 3 else { throw .components }
        guard bytes.count == 6 + 3 * Int(bytes[5]) else { throw .segment }
        var components: [Component] = []
        for index in stride(from: 6, to: bytes.count, by: 3) {
            let factors = bytes[index + 1]
            guard !components.contains(where: { $0.identifier == bytes[index] }) else {
                throw .components
            }
            components.append(
                Component(
                    identifier: bytes[index], horizontal: Int(factors >> 4),
                    vertical: Int(factors & 15), quantisation: Int(bytes[index + 2])))
        }
        guard components.allSatisfy({ $0.quantisation < 4 }) else { throw .quantisation }
        self.components = try FrameHeader.checked(components)
    }

    private static func checked(_ components: [Component]) throws(JPEGRefusal) -> [Component] {
        guard
            components[0].horizontal == 1 || components[0].horizontal == 2,
            components[0].vertical == 1 || components[0].vertical == 2,
            components.dropFirst().allSatisfy({ $0.horizontal == 1 && $0.vertical == 1 })
        else { throw .sampling }
        guard components.count == 1 else { return components }
        // The units of a scan with one component are its blocks, whatever its factors say.
        return [
            Component(
                identifier: components[0].identifier, horizontal: 1, vertical: 1,
                quantisation: components[0].quantisation)
        ]
    }
}

/// Which Huffman tables each component of the only scan is coded with.
struct ScanHeader {
    struct Component {
        let direct: Int
        let alternating: Int
    }

    let components: [Component]

    /// From the content of an SOS segment. The scan has to hold all components, completely.
    init(_ content: ArraySlice<UInt8>, frame: FrameHeader) throws(JPEGRefusal) {
        let bytes = Array(content)
        let count = frame.components.count
        guard let named = bytes.first, bytes.count == 4 + 2 * Int(named) else { throw .segment }
        guard Int(named) == count else { throw .scans }
        var components: [Component] = []
        for (index, component) in frame.components.enumerated() {
            guard bytes[1 + 2 * index] == component.identifier else { throw .scans }
            let tables = bytes[2 + 2 * index]
            guard tables >> 4 < 4, tables & 15 < 4 else { throw .huffman }
            components.append(Component(direct: Int(tables >> 4), alternating: Int(tables & 15)))
        }
        // All frequencies, with all bits.
        guard Array(bytes.suffix(3)) == [0, 63, 0] else { throw .scans }
        self.components = components
    }
}

/// A Huffman table as a file defines it: the key under which what is made of it is kept.
struct HuffmanDefinition: Hashable {
    enum Purpose: Hashable {
        /// Sizes of differences of the mean.
        case direct
        /// Runs of zeros and sizes of the values behind them.
        case alternating
    }

    let purpose: Purpose
    /// The number of codes of each length from 1 to 16.
    let counts: [UInt8]
    /// In the order of the codes.
    let symbols: [UInt8]

    /// Adds the tables of a DHT segment to those defined so far: four slots for each purpose.
    static func read(
        _ content: ArraySlice<UInt8>, into slots: inout [HuffmanDefinition?]
    ) throws(JPEGRefusal) {
        var rest = content
        while let kind = rest.popFirst() {
            guard kind >> 4 < 2, kind & 15 < 4, rest.count >= 16 else { throw .huffman }
            let counts = Array(rest.prefix(16))
            rest = rest.dropFirst(16)
            let total = counts.reduce(0) { $0 + Int($1) }
            guard total <= 256, rest.count >= total else { throw .huffman }
            let slot = Int(kind >> 4) * 4 + Int(kind & 15)
            slots[slot] = HuffmanDefinition(
                purpose: kind >> 4 == 0 ? .direct : .alternating,
                counts: counts,
                symbols: Array(rest.prefix(total)))
            rest = rest.dropFirst(total)
        }
    }
}
