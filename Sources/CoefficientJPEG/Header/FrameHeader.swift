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

    /// From the content of an SOF0 or SOF1 segment.
    init(_ content: ArraySlice<UInt8>) throws(JPEGRefusal) {
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
