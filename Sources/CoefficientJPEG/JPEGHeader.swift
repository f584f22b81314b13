/// Everything before the coded data of a file.
struct JPEGHeader {
    let frame: FrameHeader
    let scan: ScanHeader
    /// Where the coded data starts.
    let scanStart: Int
    /// Units between markers for restarting; 0 for none.
    let restartInterval: Int

    private let quantisation: [[UInt8]?]
    private let huffman: [HuffmanDefinition?]

    init(reading bytes: UnsafeRawBufferPointer) throws(JPEGRefusal) {
        var segments = SegmentReader(bytes)
        try segments.readStart()
        var frame: FrameHeader?
        var quantisation: [[UInt8]?] = Array(repeating: nil, count: 4)
        var huffman: [HuffmanDefinition?] = Array(repeating: nil, count: 8)
        var marks = ColourMarks()
        var restartInterval = 0
        while true {
            let (marker, content) = try segments.next()
            switch marker {
            case 0xC0, 0xC1:
                guard frame == nil else { throw .segment }
                frame = try FrameHeader(content)
            case 0xC4: try HuffmanDefinition.read(content, into: &huffman)
            case 0xC2, 0xC3, 0xC5...0xCF: throw .process
            case 0xDB: try JPEGHeader.readQuantisation(content, into: &quantisation)
            case 0xDD:
                guard content.count == 2 else { throw .segment }
                restartInterval = content.reduce(0) { $0 << 8 | Int($1) }
            case 0xE0: try marks.readJFIF(content)
            case 0xEE: marks.readAdobe(content)
            case 0xE1...0xED, 0xEF, 0xFE: break
            case 0xDA:
                guard let frame else { throw .segment }
                try marks.check(frame)
                self.frame = frame
                scan = try ScanHeader(content, frame: frame)
                scanStart = segments.position
                self.restartInterval = restartInterval
                self.quantisation = quantisation
                self.huffman = huffman
                return
            default: throw .segment
            }
        }
    }

    /// The steps of a component, in zigzag order.
    func quantisation(of component: Int) throws(JPEGRefusal) -> [UInt8] {
        guard let table = quantisation[frame.components[component].quantisation] else {
            throw .quantisation
        }
        return table
    }

    func directTable(of component: Int) throws(JPEGRefusal) -> HuffmanDefinition {
        guard let table = huffman[scan.components[component].direct] else { throw .huffman }
        return table
    }

    func alternatingTable(of component: Int) throws(JPEGRefusal) -> HuffmanDefinition {
        guard let table = huffman[4 + scan.components[component].alternating] else {
            throw .huffman
        }
        return table
    }

    private static func readQuantisation(
        _ content: ArraySlice<UInt8>, into slots: inout [[UInt8]?]
    ) throws(JPEGRefusal) {
        var rest = content
        while let kind = rest.popFirst() {
            guard kind < 4 else { throw .quantisation }
            guard rest.count >= 64 else { throw .segment }
            slots[Int(kind)] = Array(rest.prefix(64))
            rest = rest.dropFirst(64)
        }
    }
}

/// What tells that three components are Y, Cb and Cr: the marks of JFIF and of Adobe, then the names of
/// the components.
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

/// Walks over the segments of a file's header.
struct SegmentReader {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next segment starts; never behind the end of the bytes.
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
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

    private mutating func byte() throws(JPEGRefusal) -> UInt8 {
        guard position < bytes.count else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }
}
