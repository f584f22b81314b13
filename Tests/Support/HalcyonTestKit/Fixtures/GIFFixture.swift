public import Foundation

/// GIF files with known pixels, animated or not, written without an image library.
public enum GIFFixture {
    /// The disposal of a frame's area before the next frame is drawn.
    public enum Disposal: UInt8, CaseIterable, Sendable {
        case unspecified, keep, restoreBackground, restorePrevious
    }

    /// One frame. Pixels with alpha 0 are transparent, all others opaque.
    public struct Frame: Hashable, Sendable {
        /// At most 256 different pixels, the transparent one included.
        public var grid: PixelGrid
        /// The display time, in hundredths of a second.
        public var delay: Int
        public var disposal: Disposal
        /// The position of its top left corner on the canvas.
        public var left: Int
        public var top: Int

        public init(
            _ grid: PixelGrid, delay: Int = 10, disposal: Disposal = .unspecified,
            left: Int = 0, top: Int = 0
        ) {
            self.grid = grid
            self.delay = delay
            self.disposal = disposal
            self.left = left
            self.top = top
        }
    }

    /// A GIF file.
    ///
    /// - Parameters:
    ///   - frames: At least one.
    ///   - canvas: Its width and height; those of the first frame by default.
    ///   - loopCount: The number of repetitions, 0 for ever; `nil` omits the `NETSCAPE2.0`
    ///     extension, so the animation plays once.
    public static func data(
        _ frames: [Frame], canvas: (width: Int, height: Int)? = nil, loopCount: Int? = nil
    ) -> Data {
        precondition(!frames.isEmpty, "a GIF has at least one frame")
        var writer = ByteWriter()
        writer.append(ascii: "GIF89a")
        writer.append(littleEndian: UInt16(canvas?.width ?? frames[0].grid.width))
        writer.append(littleEndian: UInt16(canvas?.height ?? frames[0].grid.height))
        // No global palette: each frame has its own.
        writer.append([0x70, 0, 0])
        if let loopCount {
            writer.append([0x21, 0xFF, 11])
            writer.append(ascii: "NETSCAPE2.0")
            writer.append([3, 1])
            writer.append(littleEndian: UInt16(loopCount))
            writer.append(0)
        }
        for frame in frames { append(frame, to: &writer) }
        writer.append(0x3B)
        return writer.data
    }

    /// A GIF file of one frame.
    public static func data(_ grid: PixelGrid) -> Data { data([Frame(grid)]) }

    private static func append(_ frame: Frame, to writer: inout ByteWriter) {
        let drawn = PixelGrid(width: frame.grid.width, height: frame.grid.height) { x, y in
            frame.grid[x, y].alpha == 0 ? .clear : frame.grid[x, y]
        }
        let palette = drawn.palette
        precondition(palette.count <= 256, "a GIF frame has at most 256 colours")
        let index = palette.indexByColor

        writer.append([0x21, 0xF9, 4])
        writer.append(frame.disposal.rawValue << 2 | (index[.clear] == nil ? 0 : 1))
        writer.append(littleEndian: UInt16(frame.delay))
        writer.append([index[.clear] ?? 0, 0])

        writer.append(0x2C)
        writer.append(littleEndian: UInt16(frame.left), UInt16(frame.top))
        writer.append(littleEndian: UInt16(drawn.width), UInt16(drawn.height))
        // A local palette of 256 entries.
        writer.append(0x87)
        writer.append(palette.flatMap { [$0.red, $0.green, $0.blue] })
        writer.append([UInt8](repeating: 0, count: (256 - palette.count) * 3))

        writer.append(8)
        let codes = uncompressedCodes(drawn.pixels.map { index[$0] ?? 0 })
        for start in stride(from: 0, to: codes.count, by: 255) {
            let block = codes[start..<min(start + 255, codes.count)]
            writer.append(UInt8(block.count))
            writer.append(block)
        }
        writer.append(0)
    }

    /// LZW without compression: the table is cleared before codes would grow beyond 9 bits.
    ///
    /// The table starts with 258 entries and grows by one per code after the first, so 254 codes
    /// fit between two clear codes.
    private static func uncompressedCodes(_ indices: [UInt8]) -> [UInt8] {
        let clear: UInt32 = 256
        let end: UInt32 = 257
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        func put(_ code: UInt32) {
            bits |= code << UInt32(bitCount)
            bitCount += 9
            while bitCount >= 8 {
                bytes.append(UInt8(bits & 0xFF))
                bits >>= 8
                bitCount -= 8
            }
        }
        for (position, index) in indices.enumerated() {
            if position.isMultiple(of: 254) { put(clear) }
            put(UInt32(index))
        }
        put(end)
        if bitCount > 0 { bytes.append(UInt8(bits & 0xFF)) }
        return bytes
    }
}
