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
