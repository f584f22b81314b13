public import Foundation

/// PNG files with known pixels, written without an image library.
public enum PNGFixture {
    /// The storage format of pixels. 16-bit samples are the 8-bit ones times 257; gray is the red
    /// sample.
    public enum Format: CaseIterable, Sendable {
        case gray8, gray16, grayAlpha8, rgb8, rgb16, rgba8, rgba16
        /// At most 256 different pixels, with alpha in a `tRNS` chunk if any is below 255.
        case palette8

        var bitDepth: UInt8 {
            switch self {
            case .gray16, .rgb16, .rgba16: 16
            default: 8
            }
        }

        /// The colour type of the `IHDR` chunk.
        var colorType: UInt8 {
            switch self {
            case .gray8, .gray16: 0
            case .rgb8, .rgb16: 2
            case .palette8: 3
            case .grayAlpha8: 4
            case .rgba8, .rgba16: 6
            }
        }

        func samples(of pixel: Pixel) -> [UInt8] {
            switch self {
            case .gray8: [pixel.red]
            case .gray16: [pixel.red, pixel.red]
            case .grayAlpha8: [pixel.red, pixel.alpha]
            case .rgb8: [pixel.red, pixel.green, pixel.blue]
            case .rgb16: Self.rgb8.samples(of: pixel).flatMap { [$0, $0] }
            case .rgba8: [pixel.red, pixel.green, pixel.blue, pixel.alpha]
            case .rgba16: Self.rgba8.samples(of: pixel).flatMap { [$0, $0] }
            case .palette8: []
            }
        }
    }

    /// A chunk to put between the header and the pixels, such as `pHYs`, `iCCP` or `eXIf`.
    public struct Chunk: Hashable, Sendable {
        /// Four ASCII letters.
        public var type: String
        public var data: Data

        public init(type: String, data: Data) {
            self.type = type
            self.data = data
        }
    }

    /// A PNG file of `grid`: unfiltered, uncompressed and not interlaced.
    public static func data(
        _ grid: PixelGrid, as format: Format = .rgba8, chunks: [Chunk] = []
    ) -> Data {
        var all = [header(width: grid.width, height: grid.height, format)] + chunks
        let palette = format == .palette8 ? grid.palette : []
        if format == .palette8 { all += colours(palette) }
        all.append(Chunk(type: "IDAT", data: stream(grid, as: format, palette: palette)))
        all.append(Chunk(type: "IEND", data: Data()))
        return file(all)
    }

    /// A file of any chunks, each with its correct checksum.
    public static func file(_ chunks: [Chunk]) -> Data {
        var writer = ByteWriter()
        writer.append([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        for chunk in chunks { append(chunk.type, Array(chunk.data), to: &writer) }
        return writer.data
    }

    /// Returns the chunks of a complete file.
    public static func chunks(of file: Data) -> [Chunk] {
        let bytes = [UInt8](file)
        var chunks: [Chunk] = []
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let start = offset + 8
            chunks.append(
                Chunk(
                    type: String(decoding: bytes[offset + 4..<start], as: UTF8.self),
                    data: Data(bytes[start..<start + length])))
            offset = start + length + 4
        }
        return chunks
    }

    /// The checksum of PNG (CRC-32).
    public static func checksum(_ bytes: [UInt8]) -> UInt32 { Checksum.crc32(bytes) }

    static func header(width: Int, height: Int, _ format: Format) -> Chunk {
        var header = ByteWriter()
        header.append(bigEndian: UInt32(width), UInt32(height))
        header.append([format.bitDepth, format.colorType, 0, 0, 0])
        return Chunk(type: "IHDR", data: header.data)
    }

    /// The chunks of a palette.
    static func colours(_ palette: [Pixel]) -> [Chunk] {
        precondition(palette.count <= 256, "a palette has at most 256 colours")
        var chunks = [
            Chunk(type: "PLTE", data: Data(palette.flatMap { [$0.red, $0.green, $0.blue] }))
        ]
        if palette.contains(where: { $0.alpha < 255 }) {
            chunks.append(Chunk(type: "tRNS", data: Data(palette.map(\.alpha))))
        }
        return chunks
    }

    /// The compressed pixels.
    static func stream(_ grid: PixelGrid, as format: Format, palette: [Pixel] = []) -> Data {
        guard format == .palette8 else {
            return Data(StoredDeflate.zlib(scanlines(grid, samples: format.samples)))
        }
        let index = palette.indexByColor
        return Data(StoredDeflate.zlib(scanlines(grid) { [index[$0] ?? 0] }))
    }

    /// A PNG file of one colour.
    public static func solid(_ pixel: Pixel, width: Int, height: Int) -> Data {
        data(.solid(pixel, width: width, height: height))
    }

    /// Returns the rows, each preceded by a zero for "no filter".
    private static func scanlines(
        _ grid: PixelGrid, samples: (Pixel) -> [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for y in 0..<grid.height {
            bytes.append(0)
            for x in 0..<grid.width { bytes.append(contentsOf: samples(grid[x, y])) }
        }
        return bytes
    }

    private static func append(_ type: String, _ data: [UInt8], to writer: inout ByteWriter) {
        precondition(type.utf8.count == 4, "the type of a chunk has four letters")
        let checked = Array(type.utf8) + data
        writer.append(bigEndian: UInt32(data.count))
        writer.append(checked)
        writer.append(bigEndian: Checksum.crc32(checked))
    }
}
