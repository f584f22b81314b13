public import Foundation

/// Animated PNG files with known frames, written without an image library.
public struct APNGFixture: Sendable {
    public struct Frame: Sendable {
        public var grid: PixelGrid
        public var left: Int
        public var top: Int
        /// The display time in seconds, as numerator and denominator.
        public var delay: (UInt16, UInt16)
        public var disposal: Disposal
        /// Whether the frame is blended over the canvas instead of replacing its area.
        public var isBlended: Bool

        public init(
            _ grid: PixelGrid, left: Int = 0, top: Int = 0, delay: (UInt16, UInt16) = (1, 10),
            disposal: Disposal = .keep, isBlended: Bool = false
        ) {
            self.grid = grid
            self.left = left
            self.top = top
            self.delay = delay
            self.disposal = disposal
            self.isBlended = isBlended
        }
    }

    /// The disposal of a frame's area before the next one, with the raw values of the file format.
    public enum Disposal: UInt8, CaseIterable, Sendable {
        case keep, clear, previous
    }

    public var frames: [Frame]
    public var format = PNGFixture.Format.rgba8
    /// The number of runs; 0 means for ever.
    public var loopCount: UInt32 = 0
    /// The default image that is not a frame, for programs without support for animations; if
    /// `nil`, the first frame is the default image.
    public var hidden: PixelGrid?
    /// The chunks between the header and the pixels.
    public var extra: [PNGFixture.Chunk] = []
    /// The number of chunks into which the pixels of a frame are divided.
    public var parts = 1

    public init(_ frames: [Frame]) { self.frames = frames }

    public var data: Data { PNGFixture.file(chunks) }

    public var chunks: [PNGFixture.Chunk] {
        let canvas = hidden ?? frames[0].grid
        var chunks = [
            PNGFixture.header(width: canvas.width, height: canvas.height, format),
            Self.control(frames: UInt32(frames.count), loops: loopCount),
        ]
        chunks += extra
        let pixels = (frames.map(\.grid) + [canvas]).flatMap(\.pixels)
        let all = PixelGrid(width: pixels.count, height: 1) { x, _ in pixels[x] }
        let palette = format == .palette8 ? all.palette : []
        if format == .palette8 { chunks += PNGFixture.colours(palette) }
        var sequence: UInt32 = 0
        if let hidden {
            chunks.append(
                PNGFixture.Chunk(
                    type: "IDAT", data: PNGFixture.stream(hidden, as: format, palette: palette)))
        }
        for (index, frame) in frames.enumerated() {
            chunks.append(Self.description(frame, number: sequence))
            sequence += 1
            let stream = PNGFixture.stream(frame.grid, as: format, palette: palette)
            let isStill = index == 0 && hidden == nil
            for part in 0..<parts {
                let start = stream.count * part / parts
                let piece = stream[start..<stream.count * (part + 1) / parts]
                if isStill {
                    chunks.append(PNGFixture.Chunk(type: "IDAT", data: Data(piece)))
                } else {
                    var writer = ByteWriter()
                    writer.append(bigEndian: sequence)
                    writer.append(piece)
                    chunks.append(PNGFixture.Chunk(type: "fdAT", data: writer.data))
                    sequence += 1
                }
            }
        }
        return chunks + [PNGFixture.Chunk(type: "IEND", data: Data())]
    }

    /// The chunk that makes a file an animation.
    public static func control(frames: UInt32, loops: UInt32) -> PNGFixture.Chunk {
        var writer = ByteWriter()
        writer.append(bigEndian: frames, loops)
        return PNGFixture.Chunk(type: "acTL", data: writer.data)
    }

    public static func description(_ frame: Frame, number: UInt32) -> PNGFixture.Chunk {
        var writer = ByteWriter()
        writer.append(bigEndian: number, UInt32(frame.grid.width), UInt32(frame.grid.height))
        writer.append(bigEndian: UInt32(frame.left), UInt32(frame.top))
        writer.append(bigEndian: frame.delay.0, frame.delay.1)
        writer.append([frame.disposal.rawValue, frame.isBlended ? 1 : 0])
        return PNGFixture.Chunk(type: "fcTL", data: writer.data)
    }
}
