import Foundation

/// The blocks of a GIF file (GIF89a), walked without decoding pixels.
///
/// libvips takes what there is of a damaged GIF for the whole. This walk tells whether all blocks are
/// there, up to the trailer, and ``firstDamagedFrame(upTo:in:)`` whether their pixels are.
struct GIFStructure: Equatable {
    struct Frame: Equatable {
        let width: Int
        let height: Int
        /// Where the frame's compressed pixels begin: at the byte of their least code size.
        let dataOffset: Int
    }

    /// The most frames that libvips reads.
    static let mostFrames = 4096

    private(set) var frames: [Frame] = []
    /// Whether the file goes on to its trailer.
    private(set) var isComplete = false

    init(_ data: Data) {
        data.withUnsafeBytes { walk(ByteReader($0)) }
    }

    private mutating func walk(_ reader: ByteReader) {
        guard let flags = reader.byte(10) else { return }
        var offset = 13 + Self.colourTableSize(flags)
        while let introducer = reader.byte(offset) {
            switch introducer {
            case 0x3B:
                isComplete = !frames.isEmpty
                return
            case 0x21:
                guard let next = Self.endOfSubBlocks(reader, offset + 2) else { return }
                offset = next
            case 0x2C:
                guard let width = reader.littleUInt16(offset + 5),
                    let height = reader.littleUInt16(offset + 7),
                    let flags = reader.byte(offset + 9)
                else { return }
                let data = offset + 10 + Self.colourTableSize(flags)
                guard let next = Self.endOfSubBlocks(reader, data + 1) else { return }
                frames.append(Frame(width: width, height: height, dataOffset: data))
                offset = next
            case 0x00:
                // Some encoders pad between blocks.
                offset += 1
            default:
                return
            }
        }
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

    /// The index of the first frame up to `last` whose compressed pixels are invalid or too few.
    func firstDamagedFrame(upTo last: Int, in data: Data) -> Int? {
        data.withUnsafeBytes { bytes in
            let reader = ByteReader(bytes)
            return frames.prefix(last + 1).firstIndex { frame in
                !GIFCodeStream(reader, offset: frame.dataOffset)
                    .yields(pixels: frame.width * frame.height)
            }
        }
    }
}
