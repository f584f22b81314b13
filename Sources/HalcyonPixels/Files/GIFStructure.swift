import Foundation

/// The blocks of a GIF file (GIF89a), walked without decoding pixels.
///
/// libvips takes what there is of a damaged GIF for the whole, and takes some common sizes of the canvas for
/// made up. This walk tells what the file says, whether all blocks are there, up to the trailer, and
/// ``firstDamagedFrame(upTo:in:)`` whether their pixels are.
struct GIFStructure: Equatable {
    struct Frame: Equatable {
        let left: Int
        let top: Int
        let width: Int
        let height: Int
        /// Hundredths of a second.
        let delay: Int
        let isPartlyTransparent: Bool
        /// Whether it leaves the canvas as it was before it.
        let isTakenBack: Bool
        /// Where the frame's compressed pixels begin: at the byte of their least code size.
        let dataOffset: Int
    }

    /// The most frames that libvips reads.
    static let mostFrames = 4096

    private(set) var frames: [Frame] = []
    /// Whether the file goes on to its trailer, or after its only frame to what is no GIF.
    private(set) var isComplete = false
    /// How often the frames are shown; 0 means for ever.
    private(set) var loopCount = 1
    private var screen = PixelSize(width: 0, height: 0)

    init(_ data: Data) {
        data.withUnsafeBytes { walk(ByteReader($0)) }
    }

    /// Throws for a file that is cut short or has too many frames.
    func check() throws(ImageCodingError) {
        guard isComplete else {
            throw .corrupt(.GIF, reason: "its blocks do not reach the trailer")
        }
        try checkFrameCount()
    }

    /// Throws when there are more frames than are read, of which the others would be missing silently.
    func checkFrameCount() throws(ImageCodingError) {
        guard frames.count <= Self.mostFrames else {
            throw .tooManyFrames(frames.count, limit: Self.mostFrames)
        }
    }

    /// The size of the canvas: the first frame enlarges what the header says.
    var canvas: PixelSize {
        guard let first = frames.first else { return screen }
        return PixelSize(
            width: max(screen.width, first.left + first.width),
            height: max(screen.height, first.top + first.height))
    }

    /// Whether a part of the canvas is transparent in a frame.
    var hasAlpha: Bool {
        guard let first = frames.first else { return false }
        let isCovered =
            first.left == 0 && first.top == 0 && first.width >= canvas.width
            && first.height >= canvas.height
        return !isCovered || first.isTakenBack && frames.count > 1
            || frames.contains { $0.isPartlyTransparent }
    }

    private mutating func walk(_ reader: ByteReader) {
        guard let flags = reader.byte(10), let width = reader.littleUInt16(6),
            let height = reader.littleUInt16(8)
        else { return }
        screen = PixelSize(width: width, height: height)
        var control = Control()
        var offset = 13 + Self.colourTableSize(flags)
        while let introducer = reader.byte(offset) {
            switch introducer {
            case 0x3B:
                isComplete = !frames.isEmpty
                return
            case 0x21:
                guard let next = Self.endOfSubBlocks(reader, offset + 2) else { return }
                switch reader.byte(offset + 1) {
                case 0xF9: control = Control(reader, offset + 2)
                case 0xFF: readLoopCount(reader, offset + 2)
                default: break
                }
                offset = next
            case 0x2C:
                guard let left = reader.littleUInt16(offset + 1),
                    let top = reader.littleUInt16(offset + 3),
                    let width = reader.littleUInt16(offset + 5),
                    let height = reader.littleUInt16(offset + 7),
                    let flags = reader.byte(offset + 9)
                else { return }
                let data = offset + 10 + Self.colourTableSize(flags)
                guard let next = Self.endOfSubBlocks(reader, data + 1) else { return }
                frames.append(
                    Frame(
                        left: left, top: top, width: width, height: height, delay: control.delay,
                        isPartlyTransparent: control.flags & 1 == 1,
                        isTakenBack: [3, 4].contains(control.flags >> 2 & 7), dataOffset: data))
                control = Control()
                offset = next
            case 0x00:
                // Some encoders pad between blocks.
                offset += 1
            default:
                // Of an animation, frames would be missing.
                isComplete = frames.count == 1
                return
            }
        }
    }

    /// What is said of the next frame.
    private struct Control {
        var flags: UInt8 = 0
        var delay = 0

        init() {}

        init(_ reader: ByteReader, _ offset: Int) {
            flags = reader.byte(offset + 1) ?? 0
            delay = reader.littleUInt16(offset + 2) ?? 0
        }
    }

    /// The application extension in which Netscape has written how often an animation is repeated.
    private mutating func readLoopCount(_ reader: ByteReader, _ offset: Int) {
        guard let name = reader.slice(offset, count: 12), name[0] == 11,
            name.dropFirst().elementsEqual("NETSCAPE2.0".utf8)
                || name.dropFirst().elementsEqual("ANIMEXTS1.0".utf8),
            reader.byte(offset + 12) == 3, reader.byte(offset + 13) == 1,
            let repetitions = reader.littleUInt16(offset + 14)
        else { return }
        loopCount = repetitions == 0 ? 0 : repetitions + 1
    }

    /// The bytes of the colour table that a descriptor's flags announce.
    private static func colourTableSize(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }

    /// Where the chain of sub-blocks that begins at `offset` ends, or `nil` when it is cut off.
    private static func endOfSubBlocks(_ reader: ByteReader, _ offset: Int) -> Int? {
        var offset = offset
        while let length = reader.byte(offset) {
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
        return nil
    }

    /// Whether the compressed pixels of a frame are valid and enough.
    func isIntact(frame index: Int, in data: Data) -> Bool {
        let frame = frames[index]
        return data.withUnsafeBytes { bytes in
            GIFCodeStream(ByteReader(bytes), offset: frame.dataOffset)
                .yields(pixels: frame.width * frame.height)
        }
    }

    /// The index of the first frame up to `last` whose compressed pixels are invalid or too few.
    func firstDamagedFrame(upTo last: Int, in data: Data) -> Int? {
        frames.indices.prefix(last + 1).first { !isIntact(frame: $0, in: data) }
    }
}
