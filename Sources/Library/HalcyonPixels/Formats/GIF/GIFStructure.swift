import DirectCodecs
import Foundation

/// The structure of a GIF file: its frames, without their pixels.
///
/// libvips accepts a truncated or damaged GIF as complete, and takes some common canvas sizes for
/// invalid. This walk reads the file's own statements and checks that all blocks are there, up to
/// the trailer or the end of a file written without one; ``firstDamagedFrame(upTo:in:)`` checks the
/// pixels.
struct GIFStructure {
    struct Frame {
        let image: GIFBlocks.Picture
        let control: GIFBlocks.Control
    }

    /// The most frames that libvips reads.
    static let mostFrames = 4096

    private(set) var frames: [Frame] = []
    /// Whether the file goes on to its trailer, ends behind a frame, or goes on after its only frame to what is no
    /// GIF.
    private(set) var isComplete = false
    /// Zeros between blocks, which decoders do not expect.
    private var paddings: [Range<Int>] = []
    private var hasTrailer = false
    private var endsBehindFrame = false
    /// The number of times the animation plays; 0 means forever.
    private(set) var loopCount = 1
    private var screen = PixelSize(width: 0, height: 0)

    init(_ data: Data) {
        data.withUnsafeBytes { walk($0, isWhole: true) }
    }

    /// - Parameter isWhole: Whether nothing follows the bytes.
    init(_ bytes: UnsafeRawBufferPointer, isWhole: Bool = true) {
        walk(bytes, isWhole: isWhole)
    }

    /// A complete file as all decoders read it, with a trailer and nothing between its blocks; `nil` for one that is
    /// so already.
    func plainFile(_ file: Data) -> Data? {
        guard !paddings.isEmpty || !hasTrailer && endsBehindFrame else { return nil }
        var plain = Data(capacity: file.count + 1)
        var start = 0
        for padding in paddings {
            plain += file[file.startIndex + start..<file.startIndex + padding.lowerBound]
            start = padding.upperBound
        }
        plain += file.dropFirst(start)
        if !hasTrailer { plain.append(0x3B) }
        return plain
    }

    /// When the frames of an animation are shown; `nil` for a single one.
    var timing: AnimationTiming? {
        AnimationTiming(
            stored: frames.map { TimeInterval($0.control.delay) / 100 }, loopCount: loopCount)
    }

    /// Throws for a file that is cut short or has too many frames.
    func check() throws(ImageCodingError) {
        guard isComplete else {
            throw .corrupt(.GIF, reason: "its blocks do not reach the trailer")
        }
        try checkFrameCount()
    }

    /// Throws when there are more frames than are read, because the rest would be dropped silently.
    func checkFrameCount() throws(ImageCodingError) {
        guard frames.count <= Self.mostFrames else {
            throw .tooManyFrames(frames.count, limit: Self.mostFrames)
        }
    }

    /// The size of the canvas: the first frame enlarges what the header says.
    var canvas: PixelSize {
        guard let first = frames.first?.image else { return screen }
        return PixelSize(
            width: max(screen.width, first.left + first.width),
            height: max(screen.height, first.top + first.height))
    }

    /// Whether a part of the canvas is transparent in a frame.
    var hasAlpha: Bool {
        guard let first = frames.first else { return false }
        let area = first.image
        let isCovered =
            area.left == 0 && area.top == 0 && area.width >= canvas.width
            && area.height >= canvas.height
        return !isCovered || first.control.isTakenBack && frames.count > 1
            || frames.contains { $0.control.isPartlyTransparent }
    }

    private mutating func walk(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        guard var blocks = GIFBlocks(bytes) else { return }
        screen = PixelSize(width: blocks.width, height: blocks.height)
        var control = GIFBlocks.Control.none
        var isFrameExpected = false
        while let block = blocks.next() {
            switch block {
            case .control(let next):
                control = next
                isFrameExpected = true
            case .other(let label, let content):
                if label == 0xFF { readLoopCount(bytes, content) }
            case .image(let image):
                frames.append(Frame(image: image, control: control))
                control = .none
                isFrameExpected = false
            case .padding:
                addPadding(blocks.offset - 1)
            case .trailer:
                hasTrailer = true
                isComplete = !frames.isEmpty
                return
            case .unknown:
                // Of an animation, frames would be missing.
                isComplete = frames.count == 1
                return
            }
        }
        endsBehindFrame = isWhole && blocks.isAtEnd && !isFrameExpected && !frames.isEmpty
        isComplete = endsBehindFrame
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

    /// Whether the compressed pixels of a frame are valid and enough.
    func isIntact(frame index: Int, in data: Data) -> Bool {
        data.withUnsafeBytes { frames[index].image.isIntact(in: $0) }
    }

    /// The index of the first frame up to `last` whose compressed pixels are invalid or too few.
    func firstDamagedFrame(upTo last: Int, in data: Data) -> Int? {
        frames.indices.prefix(last + 1).first { !isIntact(frame: $0, in: data) }
    }
}
