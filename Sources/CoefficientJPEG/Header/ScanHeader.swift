/// Which Huffman tables each component of the scan is coded with.
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
