public import Foundation

/// PNG files with known pixels, written without an image library.
public enum PNGFixture {
    /// How pixels are stored. 16-bit samples are the 8-bit ones times 257; gray is the red sample.
    public enum Format: CaseIterable, Sendable {
        case gray8, gray16, grayAlpha8, rgb8, rgb16, rgba8, rgba16
        /// At most 256 different pixels; alpha is kept in a `tRNS` chunk when any is below 255.
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

    /// A PNG file of `grid`: no filter, not compressed, not interlaced.
    public static func data(
        _ grid: PixelGrid, as format: Format = .rgba8, chunks: [Chunk] = []
    ) -> Data {
        var writer = ByteWriter()
        writer.append([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

        var header = ByteWriter()
        header.append(bigEndian: UInt32(grid.width))
        header.append(bigEndian: UInt32(grid.height))
        header.append([format.bitDepth, format.colorType, 0, 0, 0])
        append("IHDR", header.bytes, to: &writer)

        for chunk in chunks { append(chunk.type, Array(chunk.data), to: &writer) }

        var rows: [UInt8] = []
        if format == .palette8 {
            let palette = grid.palette
            precondition(palette.count <= 256, "a palette has at most 256 colours")
            append("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] }, to: &writer)
            if palette.contains(where: { $0.alpha < 255 }) {
                append("tRNS", palette.map(\.alpha), to: &writer)
            }
            let index = palette.indexByColor
            rows = scanlines(grid) { [index[$0] ?? 0] }
        } else {
            rows = scanlines(grid, samples: format.samples)
        }
        append("IDAT", StoredDeflate.zlib(rows), to: &writer)
        append("IEND", [], to: &writer)
        return writer.data
    }

    /// A PNG file of one colour.
    public static func solid(_ pixel: Pixel, width: Int, height: Int) -> Data {
        data(.solid(pixel, width: width, height: height))
    }

    /// Each row behind a zero, which stands for "no filter".
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
