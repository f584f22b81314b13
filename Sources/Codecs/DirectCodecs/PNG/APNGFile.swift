import CCodecs

/// The frames of an animated PNG file (PNG, third edition, section 11.3.6), found by walking its chunks; their
/// pixels are not looked at.
package struct APNGFile: Sendable {
    /// The disposal of a frame's area before the next one is drawn; the raw values are those of the
    /// file.
    enum Disposal: UInt8 {
        case keep = 0
        /// The area becomes transparent.
        case clear = 1
        /// The area becomes what it was before the frame.
        case previous = 2
    }

    package struct Frame: Sendable {
        package let left: Int
        package let top: Int
        package let width: Int
        package let height: Int
        /// Seconds, as stored.
        package let duration: Double
        let disposal: Disposal
        /// Whether it is laid over what is there, instead of replacing it.
        let isBlended: Bool
        /// Where its first chunk of pixels is.
        let firstData: Int

        func covers(_ other: Frame) -> Bool {
            left <= other.left && top <= other.top
                && left + width >= other.left + other.width
                && top + height >= other.top + other.height
        }
    }

    /// Width and height of the canvas.
    package let width: Int
    package let height: Int
    /// The number of times the animation plays; 0 means forever.
    package let loopCount: Int
    package let frames: [Frame]
    /// Whether the first frame is the picture that programs without support for animations show.
    package let beginsWithStill: Bool
    /// The colour chunks before the pixels, from length to checksum.
    private let colourChunks: [Range<Int>]

    /// More frames are not read.
    package static let mostFrames = 65_536

    /// - Returns: `nil` for a file without an animation.
    /// - Throws: What is wrong with the animation: frames that are missing, in disorder or outside of the
    ///   canvas.
    package init?(_ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        var chunks = try PNGChunks(bytes)
        let header = try chunks.header()
        (width, height) = (header.width, header.height)
        let sides = 1...PNGFile.longestSide
        guard sides.contains(width), sides.contains(height) else { throw .unusual("its size") }
        guard let claim = try Self.claim(chunks) else { return nil }
        guard claim.frames <= Self.mostFrames else { throw .tooManyFrames(claim.frames) }
        loopCount = claim.loops

        var walk = FrameWalk(width: width, height: height, mostFrames: claim.frames)
        var colours: [Range<Int>] = []
        while let chunk = try walk.next(&chunks) {
            guard !walk.hasSeenPixels, Self.colourNames.contains(chunk.type) else { continue }
            colours.append(chunk.whole)
        }
        guard walk.frames.count == claim.frames else {
            throw .damaged("it has \(walk.frames.count) frames of \(claim.frames)")
        }
        frames = walk.frames
        beginsWithStill = walk.beginsWithStill
        colourChunks = colours
    }

    /// Whether a part of the canvas is transparent in a frame, given whether pixels of frames can be.
    package func hasAlpha(_ framesHaveAlpha: Bool) -> Bool {
        guard let first = frames.first, !framesHaveAlpha else { return true }
        return first.width != width || first.height != height
            || zip(frames, frames.dropFirst()).enumerated().contains { index, pair in
                clears(index) && !pair.1.covers(pair.0)
            }
    }

    /// Whether nothing is left where a frame was. Before the first one there is nothing.
    func clears(_ index: Int) -> Bool {
        let disposal = frames[index].disposal
        return disposal == .clear || index == 0 && disposal == .previous
    }

    /// Reads the frame and loop counts before the pixels; `nil` where they are damaged or the
    /// number of frames is invalid.
    private static func claim(
        _ chunks: PNGChunks
    ) throws(CodecRefusal) -> (frames: Int, loops: Int)? {
        var chunks = chunks
        while let chunk = try chunks.nextUnlessAtEnd(), chunk.type != UInt32(chunk: "IDAT") {
            guard chunk.type == UInt32(chunk: "acTL"), chunks.isIntact(chunk) else { continue }
            guard chunk.content.count == 8 else { return nil }
            let count = Int(chunk.content.bigUInt32(0))
            let loops = Int(chunk.content.bigUInt32(4))
            return count > 0 && count <= Int(Int32.max) ? (count, loops) : nil
        }
        return nil
    }

    /// Chunks that are needed to read the pixels of a frame that stands alone.
    private static let colourNames = Set(["PLTE", "tRNS", "iCCP", "cICP"].map(UInt32.init(chunk:)))
}

extension APNGFile {
    /// The compressed pixels of a frame, in parts; their checksums are verified.
    func parts(
        of index: Int, _ bytes: UnsafeRawBufferPointer
    ) throws(CodecRefusal) -> [Range<Int>] {
        var chunks = PNGChunks(bytes, offset: frames[index].firstData)
        var parts: [Range<Int>] = []
        while true {
            let chunk = try chunks.next()
            switch chunk.type {
            case UInt32(chunk: "IDAT"), UInt32(chunk: "fdAT"):
                guard chunks.isIntact(chunk) else {
                    throw .damaged("the checksum of frame \(index) is wrong")
                }
                // Frames behind the first picture have their place in the order before the data.
                let skipped = chunk.type == UInt32(chunk: "fdAT") ? 4 : 0
                let part = chunk.range.dropFirst(skipped)
                if !part.isEmpty { parts.append(part) }
            case UInt32(chunk: "fcTL"), UInt32(chunk: "IEND"):
                return parts
            default:
                continue
            }
        }
    }

    /// The pixels of a frame as a PNG file of their own, with the colour chunks.
    package func separateFile(
        of index: Int, _ bytes: UnsafeRawBufferPointer
    ) throws(CodecRefusal) -> [UInt8] {
        let frame = frames[index]
        let parts = try parts(of: index, bytes)
        var file = PNGChunks.signature
        file.reserveCapacity(parts.reduce(1024) { $0 + $1.count })
        // Depth, kind and interlacing are those of the whole file.
        file.appendChunk("IHDR") { header in
            header.append(bigEndian: UInt32(frame.width))
            header.append(bigEndian: UInt32(frame.height))
            header.append(contentsOf: bytes[24..<29])
        }
        for chunk in colourChunks { file.append(contentsOf: bytes[chunk]) }
        for part in parts {
            file.appendChunk("IDAT") { $0.append(contentsOf: bytes[part]) }
        }
        file.appendChunk("IEND") { _ in }
        return file
    }
}

/// The chunks of an animation in their order, checked while they go by.
private struct FrameWalk {
    let width: Int
    let height: Int
    let mostFrames: Int
    private(set) var frames: [APNGFile.Frame] = []
    private(set) var beginsWithStill = false
    private(set) var hasSeenPixels = false
    /// The description of a frame whose pixels have not come yet.
    private var open: PNGChunks.Chunk?
    /// Whether chunks of pixels belong to the last of ``frames``.
    private var isInFrame = false
    private var sequence = 0

    init(width: Int, height: Int, mostFrames: Int) {
        self.width = width
        self.height = height
        self.mostFrames = mostFrames
    }

    /// The next chunk; `nil` at the end of the file, which must be stated.
    mutating func next(_ chunks: inout PNGChunks) throws(CodecRefusal) -> PNGChunks.Chunk? {
        let chunk = try chunks.next()
        switch chunk.type {
        case UInt32(chunk: "IEND"):
            guard hasSeenPixels, open == nil else { throw .damaged("a frame has no pixels") }
            return nil
        case UInt32(chunk: "fcTL"):
            guard open == nil else { throw .damaged("a frame has no pixels") }
            guard chunk.range.count == 26, chunks.isIntact(chunk) else {
                throw .damaged("the description of a frame is damaged")
            }
            try count(chunk.content.bigUInt32(0))
            open = chunk
            isInFrame = false
        case UInt32(chunk: "IDAT"):
            if !hasSeenPixels, let description = open {
                beginsWithStill = true
                try begin(description, chunk)
            } else if hasSeenPixels, open != nil || frames.count > (beginsWithStill ? 1 : 0) {
                throw .damaged("its pixels are in several places")
            }
            hasSeenPixels = true
        case UInt32(chunk: "fdAT"):
            guard hasSeenPixels, chunk.range.count >= 4 else {
                throw .damaged("pixels of a frame are in the wrong place")
            }
            try count(chunk.content.bigUInt32(0))
            if let description = open {
                try begin(description, chunk)
            } else if !isInFrame || beginsWithStill && frames.count == 1 {
                throw .damaged("pixels of a frame come before its description")
            }
        default:
            break
        }
        return chunk
    }

    private mutating func count(_ number: UInt32) throws(CodecRefusal) {
        guard Int(number) == sequence else { throw .damaged("its frames are in disorder") }
        sequence += 1
    }

    private mutating func begin(
        _ description: PNGChunks.Chunk, _ data: PNGChunks.Chunk
    ) throws(CodecRefusal) {
        guard frames.count < mostFrames else {
            throw .damaged("it has more than its \(mostFrames) frames")
        }
        let content = description.content
        let frameWidth = Int(content.bigUInt32(4))
        let frameHeight = Int(content.bigUInt32(8))
        let left = Int(content.bigUInt32(12))
        let top = Int(content.bigUInt32(16))
        guard frameWidth > 0, frameHeight > 0, left + frameWidth <= width,
            top + frameHeight <= height
        else { throw .damaged("frame \(frames.count) lies outside of the canvas") }
        if !hasSeenPixels, frameWidth != width || frameHeight != height {
            throw .damaged("the first frame does not cover the canvas")
        }
        guard let disposal = APNGFile.Disposal(rawValue: content[24]), content[25] < 2
        else { throw .damaged("frame \(frames.count) is drawn in an unknown way") }
        let divisor = content.bigUInt16(22)
        frames.append(
            APNGFile.Frame(
                left: left, top: top, width: frameWidth, height: frameHeight,
                duration: Double(content.bigUInt16(20)) / Double(divisor == 0 ? 100 : divisor),
                disposal: disposal, isBlended: content[25] == 1,
                firstData: data.whole.lowerBound))
        open = nil
        isInFrame = true
    }
}
