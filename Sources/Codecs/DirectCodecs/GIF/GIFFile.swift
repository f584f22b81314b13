package import Foundation

/// The frames of a GIF file, without their pixels, and the data that these depend on.
///
/// libvips accepts a truncated or damaged GIF as complete, and takes some common canvas sizes for
/// invalid. This walk reads the file's own statements and checks that all blocks are there, up to
/// the trailer or the end of a file written without one; the pixels are checked by
/// ``GIFBlocks/Picture/isIntact(in:)``.
package struct GIFFile {
    /// The disposal of a frame's area before the next frame is drawn.
    enum Disposal {
        case keep
        case background
        case previous
    }

    package struct Frame {
        package let image: GIFBlocks.Picture
        /// The last of the extensions that describe it.
        package let control: GIFBlocks.Control
        /// The index in the last of them that names one.
        let transparentIndex: UInt8?
        /// Whether all of them are as long as they should be.
        let hasUsualControls: Bool

        var disposal: Disposal {
            if control.isTakenBack { return .previous }
            return control.flags >> 2 & 7 == 2 ? .background : .keep
        }
    }

    /// The size of the canvas: the first frame enlarges what the header says.
    package private(set) var width = 0
    package private(set) var height = 0
    package private(set) var frames: [Frame] = []
    /// Whether the file goes on to its trailer, ends behind a frame, or goes on after its only frame to what is no
    /// GIF.
    package private(set) var isComplete = false
    /// Whether the file is complete, or ends within a block behind a frame. Such a block is not read.
    package private(set) var isReadable = false
    /// The number of times the animation plays; 0 means forever.
    package private(set) var loopCount = 1
    /// Where the colour table of all frames that have none is.
    private(set) var palette: Range<Int>?
    /// The colour of areas that are cleared, as an index of ``palette``.
    private(set) var backgroundIndex: UInt8 = 0
    /// Zeros between blocks, which decoders do not expect.
    private var paddings: [Range<Int>] = []
    private var hasTrailer = false
    /// Where the last block ends that is of no frame to come.
    private var end = 0

    /// - Parameter isWhole: Whether nothing follows the bytes.
    package init(_ bytes: UnsafeRawBufferPointer, isWhole: Bool = true) {
        guard var blocks = GIFBlocks(bytes) else { return }
        (width, height) = (blocks.width, blocks.height)
        (palette, backgroundIndex) = (blocks.palette, blocks.backgroundIndex)
        var control: GIFBlocks.Control?
        var transparentIndex: UInt8?
        var hasUsualControls = true
        while let block = blocks.next() {
            switch block {
            case .control(let next):
                control = next
                if next.isPartlyTransparent { transparentIndex = next.transparentIndex }
                if next.length != 4 { hasUsualControls = false }
            case .other(let label, let content):
                if label == 0xFF { readLoopCount(bytes, content) }
                if control == nil { end = blocks.offset }
            case .image(let image):
                if frames.isEmpty {
                    width = max(width, image.left + image.width)
                    height = max(height, image.top + image.height)
                }
                frames.append(
                    Frame(
                        image: image, control: control ?? GIFBlocks.Control.none,
                        transparentIndex: transparentIndex, hasUsualControls: hasUsualControls))
                end = blocks.offset
                (control, transparentIndex, hasUsualControls) = (nil, nil, true)
            case .padding:
                addPadding(blocks.offset - 1)
            case .trailer:
                hasTrailer = true
                isComplete = !frames.isEmpty
                isReadable = isComplete
                return
            case .unknown:
                // Of an animation, frames would be missing.
                isComplete = frames.count == 1
                isReadable = isComplete
                return
            }
        }
        // As in browsers, the frames so far are shown.
        isReadable = isWhole && !frames.isEmpty
        isComplete = isReadable && blocks.isAtEnd && control == nil
    }

    private mutating func addPadding(_ place: Int) {
        if let last = paddings.last, last.upperBound == place {
            paddings[paddings.count - 1] = last.lowerBound..<place + 1
        } else {
            paddings.append(place..<place + 1)
        }
    }

    /// The application extension in which Netscape has written how often an animation is repeated.
    private mutating func readLoopCount(_ bytes: UnsafeRawBufferPointer, _ offset: Int) {
        guard bytes.byte(at: offset) == 11,
            bytes.hasText("NETSCAPE2.0", at: offset + 1)
                || bytes.hasText("ANIMEXTS1.0", at: offset + 1),
            bytes.byte(at: offset + 12) == 3, bytes.byte(at: offset + 13) == 1,
            let repetitions = bytes.littleEndian(offset + 14, 2)
        else { return }
        loopCount = repetitions == 0 ? 0 : repetitions + 1
    }

    /// A readable file as all decoders read it, with a trailer and nothing between its blocks; `nil` for one that is
    /// so already.
    package func plainFile(_ file: Data) -> Data? {
        guard !paddings.isEmpty || !hasTrailer else { return nil }
        let file = hasTrailer ? file : file.prefix(end)
        var plain = Data(capacity: file.count + 1)
        var start = 0
        for padding in paddings where padding.upperBound <= file.count {
            plain += file[file.startIndex + start..<file.startIndex + padding.lowerBound]
            start = padding.upperBound
        }
        plain += file.dropFirst(start)
        if !hasTrailer { plain.append(0x3B) }
        return plain
    }

    /// Whether a part of the canvas is transparent in a frame.
    package var hasAlpha: Bool {
        guard let first = frames.first else { return false }
        let area = first.image
        let isCovered =
            area.left == 0 && area.top == 0 && area.width >= width && area.height >= height
        return !isCovered || first.control.isTakenBack && frames.count > 1
            || frames.contains { $0.control.isPartlyTransparent }
    }

    /// Throws for a file that ``GIFCanvas`` does not draw.
    package func checkIsUsual(_ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        guard bytes.count > 13, width > 0, height > 0, palette?.upperBound ?? 0 <= bytes.count
        else { throw .damaged("it is cut short") }
        for frame in frames {
            guard frame.hasUsualControls else {
                throw .unusual("a frame has an unusual extension")
            }
            guard bytes[frame.image.dataOffset] <= 8 else {
                throw .unusual("it has more than 256 colours")
            }
            // Larger ones would take memory for pixels that are never seen.
            guard frame.image.width <= width, frame.image.height <= height else {
                throw .unusual("a frame is larger than the canvas")
            }
        }
    }
}

extension GIFBlocks.Picture {
    /// Whether the compressed pixels are valid and enough.
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
