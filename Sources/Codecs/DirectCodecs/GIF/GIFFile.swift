/// The frames of a GIF file, with the data that their pixels depend on.
package struct GIFFile {
    /// The disposal of a frame's area before the next frame is drawn.
    enum Disposal {
        case keep
        case background
        case previous
    }

    struct Frame {
        let image: GIFBlocks.Picture
        let transparentIndex: UInt8?
        let disposal: Disposal
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
    ) throws(CodecRefusal) {
        guard bytes.count > 13, width > 0, height > 0, var blocks = GIFBlocks(bytes),
            blocks.palette?.upperBound ?? 0 <= bytes.count
        else { throw .damaged("it is cut short") }
        self.width = width
        self.height = height
        palette = blocks.palette
        backgroundIndex = blocks.backgroundIndex

        var disposal = Disposal.keep
        var transparentIndex: UInt8?
        while frames.count < frameCount {
            switch blocks.next() {
            case .control(let control):
                guard control.length == 4 else {
                    throw .unusual("a frame has an unusual extension")
                }
                disposal = control.disposal
                if control.isPartlyTransparent { transparentIndex = control.transparentIndex }
            case .other, .padding:
                break
            case .image(let image):
                guard bytes[image.dataOffset] <= 8 else {
                    throw .unusual("it has more than 256 colours")
                }
                // Larger ones would take memory for pixels that are never seen.
                guard image.width <= width, image.height <= height else {
                    throw .unusual("a frame is larger than the canvas")
                }
                frames.append(
                    Frame(image: image, transparentIndex: transparentIndex, disposal: disposal))
                (disposal, transparentIndex) = (.keep, nil)
            case .trailer, .unknown:
                throw .damaged("it has an unknown block")
            case nil:
                throw .damaged("it is cut short")
            }
        }
    }
}

extension GIFBlocks.Control {
    fileprivate var disposal: GIFFile.Disposal {
        if isTakenBack { return .previous }
        return flags >> 2 & 7 == 2 ? .background : .keep
    }
}

extension GIFBlocks.Picture {
    /// Whether the compressed pixels are valid and enough.
    ///
    /// - Parameter bytes: Those of the file.
    package func isIntact(in bytes: UnsafeRawBufferPointer) -> Bool {
        var codes = GIFCodes()
        return codes.areValid(bytes, offset: dataOffset, count: width * height)
    }
}

/// The blocks of a GIF file (GIF89a), one after the other; nothing is decoded.
package struct GIFBlocks {
    package enum Block {
        /// The graphic control extension of the next image.
        case control(Control)
        /// Another extension; its sub-blocks begin at `content`.
        case other(label: UInt8, content: Int)
        case image(Picture)
        /// A zero, with which some encoders pad between blocks.
        case padding
        case trailer
        /// Bytes that are not a block.
        case unknown
    }

    /// The bytes of a graphic control extension; what is missing of it is zero.
    package struct Control {
        /// Where it is: behind the mark of its kind.
        package let offset: Int
        /// The length that it states, 4 where it is as it should be.
        package let length: UInt8
        let flags: UInt8
        /// Hundredths of a second.
        package let delay: Int
        let transparentIndex: UInt8

        package static let none = Control(
            offset: 0, length: 4, flags: 0, delay: 0, transparentIndex: 0)

        package var isPartlyTransparent: Bool { flags & 1 == 1 }

        /// Whether the image leaves the canvas as it was before it. Some programs write 4 instead of 3.
        package var isTakenBack: Bool { [3, 4].contains(flags >> 2 & 7) }
    }

    /// An image's descriptor.
    package struct Picture {
        package let left: Int
        package let top: Int
        package let width: Int
        package let height: Int
        let isInterlaced: Bool
        /// Where the image's own colour table is, or would be in a longer file.
        let palette: Range<Int>?
        /// Where the compressed pixels begin: at the byte of their least code size.
        package let dataOffset: Int
    }

    /// The size of the canvas, as the header has it.
    package let width: Int
    package let height: Int
    let backgroundIndex: UInt8
    /// Where the colour table of all images that have none is, or would be in a longer file.
    let palette: Range<Int>?

    private let bytes: UnsafeRawBufferPointer
    /// Where the next block begins.
    package private(set) var offset: Int

    /// Whether the last block ends with the bytes.
    package var isAtEnd: Bool { offset == bytes.count }

    /// `nil` for bytes that end within the header.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let width = bytes.littleEndian(6, 2),
            let height = bytes.littleEndian(8, 2),
            let flags = bytes.byte(at: 10)
        else { return nil }
        self.bytes = bytes
        self.width = width
        self.height = height
        backgroundIndex = bytes.byte(at: 11) ?? 0
        palette = Self.colourTable(flags, at: 13)
        offset = palette?.upperBound ?? 13
    }

    /// The next block; `nil` when the bytes end before it or within it. Repeats its result where
    /// nothing follows.
    package mutating func next() -> Block? {
        switch bytes.byte(at: offset) {
        case nil: return nil
        case 0x3B: return .trailer
        case 0x21:
            let content = offset + 2
            guard let label = bytes.byte(at: offset + 1), let end = endOfSubBlocks(content) else {
                return nil
            }
            offset = end
            return label == 0xF9
                ? .control(control(content)) : .other(label: label, content: content)
        case 0x2C:
            guard let image = image(offset), let end = endOfSubBlocks(image.dataOffset + 1) else {
                return nil
            }
            offset = end
            return .image(image)
        case 0:
            offset += 1
            return .padding
        default:
            return .unknown
        }
    }

    private func control(_ content: Int) -> Control {
        Control(
            offset: content, length: bytes.byte(at: content) ?? 0,
            flags: bytes.byte(at: content + 1) ?? 0,
            delay: number(content + 2) ?? 0, transparentIndex: bytes.byte(at: content + 4) ?? 0)
    }

    private func image(_ start: Int) -> Picture? {
        guard let left = number(start + 1), let top = number(start + 3),
            let width = number(start + 5), let height = number(start + 7),
            let flags = bytes.byte(at: start + 9)
        else { return nil }
        let palette = Self.colourTable(flags, at: start + 10)
        return Picture(
            left: left, top: top, width: width, height: height, isInterlaced: flags & 0x40 != 0,
            palette: palette, dataOffset: palette?.upperBound ?? start + 10)
    }

    private func number(_ place: Int) -> Int? {
        bytes.littleEndian(place, 2)
    }

    /// The colour table that a descriptor's flags announce.
    private static func colourTable(_ flags: UInt8, at start: Int) -> Range<Int>? {
        flags & 0x80 == 0 ? nil : start..<start + (3 << (Int(flags & 7) + 1))
    }

    /// Where the chain of sub-blocks that begins at `start` ends; `nil` when it is cut off.
    private func endOfSubBlocks(_ start: Int) -> Int? {
        var offset = start
        while let length = bytes.byte(at: offset) {
            offset += 1 + Int(length)
            if length == 0 { return offset }
        }
        return nil
    }
}
