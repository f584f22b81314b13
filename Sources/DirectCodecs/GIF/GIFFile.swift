/// The blocks of a GIF file (GIF89a) as far as pixels depend on them.
package struct GIFFile {
    /// What happens to a frame's area before the next frame is drawn.
    enum Disposal {
        case keep
        case background
        case previous
    }

    struct Frame {
        let left: Int
        let top: Int
        let width: Int
        let height: Int
        let isInterlaced: Bool
        /// Where the frame's own colour table is.
        let palette: Range<Int>?
        let transparentIndex: UInt8?
        let disposal: Disposal
        /// Where its compressed pixels begin: at the byte of their least code size.
        let dataOffset: Int
    }

    package let width: Int
    package let height: Int
    package var frameCount: Int { frames.count }
    private(set) var frames: [Frame] = []
    /// Where the colour table of all frames that have none is.
    let palette: Range<Int>?
    /// The colour of areas that are cleared, as an index of ``palette``.
    let backgroundIndex: UInt8

    /// Walks the blocks of a file whose canvas is known.
    ///
    /// - Parameters:
    ///   - width: Of the canvas: decoders let the first frame enlarge what the header says.
    ///   - frameCount: The frames that are expected; others are not looked at.
    package init(
        _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, frameCount: Int
    ) throws(GIFRefusal) {
        guard bytes.count > 13, width > 0, height > 0 else { throw .damaged("it is cut short") }
        self.width = width
        self.height = height
        backgroundIndex = bytes[11]
        var offset = 13
        palette = try Self.colourTable(bytes[10], &offset, bytes.count)

        var control = Control()
        while frames.count < frameCount {
            switch try Self.byte(bytes, offset) {
            case 0x21:
                if try Self.byte(bytes, offset + 1) == 0xF9 {
                    try control.read(bytes, offset + 2)
                }
                offset = try Self.endOfSubBlocks(bytes, offset + 2)
            case 0x2C:
                let frame = try Self.frame(bytes, &offset, control)
                // Larger ones would take memory for pixels that are never seen.
                guard frame.width <= width, frame.height <= height else {
                    throw .unusual("a frame is larger than the canvas")
                }
                frames.append(frame)
                control = Control()
            default:
                throw .damaged("it has an unknown block")
            }
        }
    }

    /// What is said of the next frame.
    private struct Control {
        var disposal = Disposal.keep
        var transparentIndex: UInt8?

        mutating func read(
            _ bytes: UnsafeRawBufferPointer, _ offset: Int
        ) throws(GIFRefusal) {
            guard try GIFFile.byte(bytes, offset) == 4 else {
                throw .unusual("a frame has an unusual extension")
            }
            let flags = try GIFFile.byte(bytes, offset + 1)
            let index = try GIFFile.byte(bytes, offset + 4)
            switch flags >> 2 & 7 {
            case 2: disposal = .background
            // Some programs write 4 instead of 3.
            case 3, 4: disposal = .previous
            default: disposal = .keep
            }
            if flags & 1 == 1 { transparentIndex = index }
        }
    }

    private static func frame(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ control: Control
    ) throws(GIFRefusal) -> Frame {
        guard bytes.count - offset > 10 else { throw .damaged("it is cut short") }
        let start = offset
        func number(_ place: Int) -> Int {
            Int(bytes[start + place]) | Int(bytes[start + place + 1]) << 8
        }
        let flags = bytes[start + 9]
        offset += 10
        let palette = try colourTable(flags, &offset, bytes.count)
        let dataOffset = offset
        guard try byte(bytes, offset) <= 8 else { throw .unusual("it has more than 256 colours") }
        offset = try endOfSubBlocks(bytes, offset + 1)
        return Frame(
            left: number(1), top: number(3), width: number(5), height: number(7),
            isInterlaced: flags & 0x40 != 0, palette: palette,
            transparentIndex: control.transparentIndex, disposal: control.disposal,
            dataOffset: dataOffset)
    }

    /// The colour table that a descriptor's flags announce at `offset`, which moves behind it.
    private static func colourTable(
        _ flags: UInt8, _ offset: inout Int, _ end: Int
    ) throws(GIFRefusal) -> Range<Int>? {
        guard flags & 0x80 != 0 else { return nil }
        let size = 3 << (Int(flags & 7) + 1)
        guard size <= end - offset else { throw .damaged("it is cut short") }
        defer { offset += size }
        return offset..<offset + size
    }

    /// Where the chain of sub-blocks that begins at `offset` ends.
    private static func endOfSubBlocks(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int
    ) throws(GIFRefusal) -> Int {
        var offset = offset
        while true {
            let length = try byte(bytes, offset)
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
    }

    private static func byte(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int
    ) throws(GIFRefusal) -> UInt8 {
        guard offset < bytes.count else { throw .damaged("it is cut short") }
        return bytes[offset]
    }
}
