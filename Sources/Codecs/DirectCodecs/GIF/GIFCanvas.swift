import CCodecs

/// Draws the frames of a GIF file one after the other, each compressed pixel decoded once.
///
/// Two to three times as fast as libvips' reader: whole strings of pixels are copied (``GIFCodes``), and
/// their validity is seen on the way. Areas are cleared as libvips does: to transparent if the frame
/// that leaves is partly transparent, else to the background colour.
///
/// `@unchecked Sendable`: the one reader that owns it is used by one thread at a time.
package final class GIFCanvas: AnimationCanvas, @unchecked Sendable {
    private let file: GIFFile
    private let bytes: UnsafeRawBufferPointer
    private let owner: AnyObject?
    /// The pixels shown, as RGBA.
    private let canvas: UnsafeMutablePointer<UInt32>
    private let pixelCount: Int
    /// The canvas before a frame that will be undone.
    private var saved: [UInt32] = []
    private var indices: UnsafeMutablePointer<UInt8>
    private var indexCapacity = 0
    private var codes = GIFCodes()
    private var globalPalette: [UInt32]
    /// Colours that a frame's table does not have are those of the table before.
    private var localPalette = [UInt32](repeating: 0, count: 256)
    private let background: UInt32
    private var nextFrame = 0

    /// - Parameters:
    ///   - bytes: Those that `file` was made of.
    ///   - owner: Keeps `bytes` where they are; kept as long as this.
    package init(_ file: GIFFile, _ bytes: UnsafeRawBufferPointer, owner: AnyObject? = nil) {
        (self.file, self.bytes, self.owner) = (file, bytes, owner)
        pixelCount = file.width * file.height
        canvas = .allocate(capacity: pixelCount)
        canvas.initialize(repeating: 0, count: pixelCount)
        indices = .allocate(capacity: 1)
        var palette = [UInt32](repeating: 0, count: 256)
        if let range = file.palette {
            Self.read(bytes, range, into: &palette)
        } else {
            palette[0] = Self.colour(0, 0, 0)
            palette[1] = Self.colour(255, 255, 255)
        }
        let colours = file.palette.map { $0.count / 3 } ?? 0
        globalPalette = palette
        background = palette[Int(file.backgroundIndex) < colours ? Int(file.backgroundIndex) : 0]
    }

    deinit {
        canvas.deallocate()
        indices.deallocate()
    }

    package func next(
        into pixels: UnsafeMutablePointer<UInt8>, channels: Int
    ) throws(CodecRefusal) {
        try skip()
        let drawn = UnsafeRawPointer(canvas).assumingMemoryBound(to: UInt8.self)
        if channels == 4 {
            pixels.update(from: drawn, count: pixelCount * 4)
        } else {
            cpng_drop_alpha(drawn, pixels, pixelCount)
        }
    }

    package func skip() throws(CodecRefusal) {
        guard !cdecoding_is_late() else { throw .damaged("it takes too long") }
        let index = nextFrame
        guard index < file.frames.count else { throw .damaged("frames are missing") }
        let frame = file.frames[index]
        if index > 0 { dispose(of: file.frames[index - 1]) }
        if frame.disposal == .previous {
            saved = Array(UnsafeBufferPointer(start: canvas, count: pixelCount))
        }
        let count = frame.image.width * frame.image.height
        reserveIndices(count + GIFCodes.slack)
        guard codes.decode(bytes, offset: frame.image.dataOffset, into: indices, count: count)
        else {
            throw .damaged("the pixels of frame \(index) are damaged")
        }
        if let range = frame.image.palette { Self.read(bytes, range, into: &localPalette) }
        draw(frame, frame.image.palette == nil ? globalPalette : localPalette)
        nextFrame += 1
    }

    private func dispose(of frame: GIFFile.Frame) {
        switch frame.disposal {
        case .keep:
            break
        case .background:
            let colour = frame.transparentIndex == nil ? background : 0
            let area = visible(frame)
            for y in 0..<area.height {
                let row = canvas + (frame.image.top + y) * file.width + frame.image.left
                row.update(repeating: colour, count: area.width)
            }
        case .previous:
            saved.withUnsafeBufferPointer { pixels in
                canvas.update(from: pixels.baseAddress!, count: pixelCount)
            }
        }
    }

    /// The size of the part of a frame that lies on the canvas.
    private func visible(_ frame: GIFFile.Frame) -> (width: Int, height: Int) {
        let width = min(frame.image.width, file.width - frame.image.left)
        let height = min(frame.image.height, file.height - frame.image.top)
        return width > 0 && height > 0 ? (width, height) : (0, 0)
    }

    private func draw(_ frame: GIFFile.Frame, _ palette: [UInt32]) {
        let area = visible(frame)
        palette.withUnsafeBufferPointer { palette in
            for (stored, y) in GIFRowOrder(
                height: frame.image.height, isInterlaced: frame.image.isInterlaced)
            where y < area.height {
                let row = canvas + (frame.image.top + y) * file.width + frame.image.left
                let source = indices + stored * frame.image.width
                if let transparent = frame.transparentIndex {
                    for x in 0..<area.width where source[x] != transparent {
                        row[x] = palette[Int(source[x])]
                    }
                } else {
                    for x in 0..<area.width { row[x] = palette[Int(source[x])] }
                }
            }
        }
    }

    private func reserveIndices(_ count: Int) {
        guard count > indexCapacity else { return }
        indices.deallocate()
        indices = .allocate(capacity: count)
        indexCapacity = count
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, into palette: inout [UInt32]
    ) {
        for (index, place) in stride(from: range.lowerBound, to: range.upperBound, by: 3)
            .enumerated()
        {
            palette[index] = colour(bytes[place], bytes[place + 1], bytes[place + 2])
        }
    }

    /// An opaque pixel whose bytes in memory are red, green, blue and opacity.
    private static func colour(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt32 {
        UInt32(littleEndian: UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000)
    }
}

/// The rows of a frame in the order in which they are stored, with their places in the picture.
struct GIFRowOrder: Sequence, IteratorProtocol {
    private let height: Int
    private var stored = 0
    private var y = 0
    /// The distance to the next row of the pass, and where the passes after it begin.
    private var step: Int
    private var passes: ArraySlice<(start: Int, step: Int)>

    init(height: Int, isInterlaced: Bool) {
        self.height = height
        step = isInterlaced ? 8 : 1
        passes = isInterlaced ? [(4, 8), (2, 4), (1, 2)] : []
    }

    mutating func next() -> (stored: Int, y: Int)? {
        while y >= height {
            guard let pass = passes.popFirst() else { return nil }
            y = pass.start
            step = pass.step
        }
        defer {
            stored += 1
            y += step
        }
        return (stored, y)
    }
}
