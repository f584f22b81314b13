import Foundation

/// Everything before the coded data of a file's first scan.
struct JPEGHeader {
    let frame: FrameHeader
    let tables: JPEGTables
    /// The content of the first scan's header.
    let scan: ArraySlice<UInt8>
    let scanStart: Int

    init(reading bytes: UnsafeRawBufferPointer) throws(JPEGRefusal) {
        var segments = SegmentReader(bytes)
        try segments.readStart()
        var frame: FrameHeader?
        var tables = JPEGTables()
        var marks = ColourMarks()
        while true {
            let (marker, content) = try segments.next()
            switch marker {
            case 0xC0...0xC2:
                guard frame == nil else { throw .segment }
                frame = try FrameHeader(content, isProgressive: marker == 0xC2)
            case 0xC3, 0xC5...0xCF: throw .process
            case 0xE0: try marks.readJFIF(content)
            case 0xEE: marks.readAdobe(content)
            case 0xDA:
                guard let frame else { throw .segment }
                try marks.check(frame)
                self.frame = frame
                self.tables = tables
                scan = content
                scanStart = segments.position
                return
            default: try tables.take(marker, content)
            }
        }
    }
}

/// The tables that a file has defined so far, and other things that it may say between scans.
struct JPEGTables {
    /// Units between markers for restarting; 0 for none.
    private(set) var restartInterval = 0

    private var quantisation: [[UInt8]?] = Array(repeating: nil, count: 4)
    private var huffman: [HuffmanDefinition?] = Array(repeating: nil, count: 8)

    /// Takes a segment; those that say nothing of the picture are passed over.
    mutating func take(_ marker: UInt8, _ content: ArraySlice<UInt8>) throws(JPEGRefusal) {
        switch marker {
        case 0xC4: try HuffmanDefinition.read(content, into: &huffman)
        case 0xDB: try readQuantisation(content)
        case 0xDD:
            guard content.count == 2 else { throw .segment }
            restartInterval = content.reduce(0) { $0 << 8 | Int($1) }
        case 0xE0...0xEF, 0xFE: break
        default: throw .segment
        }
    }

    /// The steps of quantisation in a slot, 0...3, in zigzag order.
    func quantisation(_ slot: Int) throws(JPEGRefusal) -> [UInt8] {
        guard let table = quantisation[slot] else { throw .quantisation }
        return table
    }

    func direct(_ slot: Int) throws(JPEGRefusal) -> HuffmanDefinition {
        guard let table = huffman[slot] else { throw .huffman }
        return table
    }

    func alternating(_ slot: Int) throws(JPEGRefusal) -> HuffmanDefinition {
        guard let table = huffman[4 + slot] else { throw .huffman }
        return table
    }

    private mutating func readQuantisation(
        _ content: ArraySlice<UInt8>
    ) throws(JPEGRefusal) {
        var rest = content
        while let kind = rest.popFirst() {
            guard kind < 4 else { throw .quantisation }
            guard rest.count >= 64 else { throw .segment }
            quantisation[Int(kind)] = Array(rest.prefix(64))
            rest = rest.dropFirst(64)
        }
    }
}

/// The evidence that three components are Y, Cb and Cr: the JFIF and Adobe markers, then the names
/// of the components.
struct ColourMarks {
    private var isJFIF = false
    private var adobeTransform: UInt8?

    mutating func readJFIF(_ content: ArraySlice<UInt8>) throws(JPEGRefusal) {
        guard content.count >= 14, content.starts(with: [0x4A, 0x46, 0x49, 0x46, 0]) else { return }
        guard content[content.startIndex + 5] == 1 else { throw .segment }
        isJFIF = true
    }

    mutating func readAdobe(_ content: ArraySlice<UInt8>) {
        guard content.count >= 12, content.starts(with: [0x41, 0x64, 0x6F, 0x62, 0x65]) else {
            return
        }
        adobeTransform = content[content.startIndex + 11]
    }

    func check(_ frame: FrameHeader) throws(JPEGRefusal) {
        guard frame.components.count == 3, !isJFIF else { return }
        switch adobeTransform {
        case 1: return
        case .some: throw .colour
        case nil:
            guard frame.components.map(\.identifier) == [1, 2, 3] else { throw .colour }
        }
    }
}

struct SegmentReader {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next segment starts; never behind the end of the bytes.
    private(set) var position: Int

    init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    mutating func readStart() throws(JPEGRefusal) {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8, bytes[2] == 0xFF else {
            throw .notJPEG
        }
        position = 2
    }

    /// The next marker and what its segment holds behind the length. Only contents that are looked at
    /// are copied.
    mutating func next() throws(JPEGRefusal) -> (marker: UInt8, content: ArraySlice<UInt8>) {
        guard try byte() == 0xFF else { throw .segment }
        var marker = try byte()
        while marker == 0xFF { marker = try byte() }
        // Those that have no length have no business in a header either.
        guard marker >= 0xC0, !(0xD0...0xD9).contains(marker) else { throw .segment }
        let length = Int(try byte()) << 8 | Int(try byte())
        guard length >= 2 else { throw .segment }
        let end = position + length - 2
        guard end <= bytes.count else { throw .truncated }
        let start = position
        position = end
        switch marker {
        case 0xE0, 0xEE: return (marker, ArraySlice(bytes[start..<min(end, start + 16)]))
        case 0xE1...0xEF, 0xFE: return (marker, [])
        default: return (marker, ArraySlice(bytes[start..<end]))
        }
    }

    /// Whether the image ends here.
    var isAtEnd: Bool {
        var place = position
        while place + 1 < bytes.count, bytes[place] == 0xFF, bytes[place + 1] == 0xFF { place += 1 }
        return place + 1 < bytes.count && bytes[place] == 0xFF && bytes[place + 1] == 0xD9
    }

    /// Goes on to the marker behind the coded data of a scan.
    mutating func passScan() throws(JPEGRefusal) {
        guard let base = bytes.baseAddress else { throw .truncated }
        while let found = memchr(base + position, 0xFF, bytes.count - position) {
            position = UnsafeRawPointer(found) - base
            guard position + 1 < bytes.count else { break }
            let code = bytes[position + 1]
            // Neither a stuffed byte nor a restart.
            if code != 0, !(0xD0...0xD7).contains(code) { return }
            position += 2
        }
        throw .truncated
    }

    private mutating func byte() throws(JPEGRefusal) -> UInt8 {
        guard position < bytes.count else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }
}

/// The frame header of a file, for the kinds that this decoder reads.
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

/// The header of a scan: its components, and what it tells of them (ITU-T T.81, B.2.3).
struct ScanHeader {
    struct Member {
        /// Its place among the components of the frame.
        let component: Int
        /// The slots of its Huffman tables, 0...3.
        let direct: Int
        let alternating: Int
    }

    let members: [Member]
    /// The places of the zigzag order that it tells of.
    let band: ClosedRange<Int>
    /// The bit down to which coefficients were known before; 0 when this is their first scan.
    let high: Int
    /// The bit down to which they are known then.
    let low: Int

    init(_ content: ArraySlice<UInt8>, frame: FrameHeader) throws(JPEGRefusal) {
        let bytes = Array(content)
        guard let count = bytes.first.map(Int.init), bytes.count == 4 + 2 * count else {
            throw .segment
        }
        guard (1...frame.components.count).contains(count) else { throw .scans }
        var members: [Member] = []
        for index in 0..<count {
            let (name, slots) = (bytes[1 + 2 * index], bytes[2 + 2 * index])
            // Components keep their order, so that none comes twice.
            let next = members.last.map { $0.component + 1 } ?? 0
            guard
                let component = frame.components[next...].firstIndex(where: {
                    $0.identifier == name
                })
            else { throw .scans }
            guard slots >> 4 < 4, slots & 15 < 4 else { throw .huffman }
            members.append(
                Member(
                    component: component, direct: Int(slots >> 4), alternating: Int(slots & 15)))
        }
        let end = bytes.suffix(3).map(Int.init)
        guard end[0] <= end[1], end[1] < 64 else { throw .scans }
        self.members = members
        band = end[0]...end[1]
        (high, low) = (end[2] >> 4, end[2] & 15)
    }

    /// Throws unless the scan tells all frequencies of all components, with all bits.
    func checkTellsAll(of frame: FrameHeader) throws(JPEGRefusal) {
        guard members.count == frame.components.count, band == 0...63, high == 0, low == 0 else {
            throw .scans
        }
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
