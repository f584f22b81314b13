public import Foundation

/// ICO files that wrap PNG or BMP pictures with known pixels.
public enum ICOFixture {
    /// The storage format of a picture in the file.
    public enum Format: CaseIterable, Sendable {
        case png, bmp
    }

    /// An ICO file with one picture per grid; sides are at most 256 pixels.
    public static func data(_ grids: [PixelGrid], as format: Format = .png) -> Data {
        let pictures = grids.map { format == .png ? Array(PNGFixture.data($0)) : bitmap($0) }
        var writer = ByteWriter()
        writer.append(littleEndian: 0, 1, UInt16(grids.count))

        var offset = 6 + 16 * grids.count
        for (grid, picture) in zip(grids, pictures) {
            precondition(grid.width <= 256 && grid.height <= 256, "an icon has at most 256 pixels")
            // 256 is written as 0.
            writer.append([grid.width, grid.height, 0, 0].map { UInt8(truncatingIfNeeded: $0) })
            writer.append(littleEndian: 1, 32 as UInt16)
            writer.append(littleEndian: UInt32(picture.count), UInt32(offset))
            offset += picture.count
        }
        for picture in pictures { writer.append(picture) }
        return writer.data
    }

    /// A BMP without its file header, of twice the height: pixels, then a mask with a bit set for
    /// each fully transparent pixel, rows filled to four bytes.
    private static func bitmap(_ grid: PixelGrid) -> [UInt8] {
        let pixels = BMPFixture.rows32(grid)
        let stride = (grid.width + 31) / 32 * 4
        var mask = [UInt8](repeating: 0, count: stride * grid.height)
        for y in 0..<grid.height {
            for x in 0..<grid.width where grid[x, y].alpha == 0 {
                mask[(grid.height - 1 - y) * stride + x / 8] |= 0x80 >> UInt8(x % 8)
            }
        }
        var writer = ByteWriter()
        BMPFixture.appendHeader(
            to: &writer, size: 40, width: grid.width, height: grid.height * 2,
            bitsPerPixel: 32, compression: 0, byteCount: pixels.count + mask.count)
        writer.append(pixels)
        writer.append(mask)
        return writer.bytes
    }
}
