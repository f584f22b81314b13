public import Foundation

/// BMP files with known pixels, written without an image library.
public enum BMPFixture {
    /// A bottom-up BMP file: 24 bits per pixel without alpha, or 32 with it.
    ///
    /// 32-bit files have a `BITMAPV4HEADER` with channel masks, which is what makes alpha count.
    public static func data(_ grid: PixelGrid, alpha: Bool = false) -> Data {
        let pixels = alpha ? rows32(grid) : rows24(grid)
        let headerSize = alpha ? 108 : 40
        let offset = 14 + headerSize

        var writer = ByteWriter()
        writer.append(ascii: "BM")
        writer.append(littleEndian: UInt32(offset + pixels.count), 0, UInt32(offset))
        appendHeader(
            to: &writer, size: headerSize, width: grid.width, height: grid.height,
            bitsPerPixel: alpha ? 32 : 24, compression: alpha ? 3 : 0, byteCount: pixels.count)
        if alpha {
            writer.append(
                littleEndian: 0x00FF_0000, 0x0000_FF00, 0x0000_00FF, 0xFF00_0000 as UInt32)
            // LCS_sRGB; the end points and gammas after it are then ignored.
            writer.append(littleEndian: UInt32(0x7352_4742))
            writer.append([UInt8](repeating: 0, count: 48))
        }
        writer.append(pixels)
        return writer.data
    }

    /// The 40 bytes of a `BITMAPINFOHEADER`, or the beginning of a longer one.
    static func appendHeader(
        to writer: inout ByteWriter, size: Int, width: Int, height: Int,
        bitsPerPixel: UInt16, compression: UInt32, byteCount: Int
    ) {
        writer.append(littleEndian: UInt32(size), UInt32(width), UInt32(height))
        writer.append(littleEndian: 1, bitsPerPixel)
        // 2835 dots per metre are 72 per inch.
        writer.append(littleEndian: compression, UInt32(byteCount), 2835, 2835, 0, 0)
    }

    /// Blue, green, red, alpha, from the bottom row up.
    static func rows32(_ grid: PixelGrid) -> [UInt8] {
        (0..<grid.height).reversed().flatMap { y in
            (0..<grid.width).flatMap { x in
                let pixel = grid[x, y]
                return [pixel.blue, pixel.green, pixel.red, pixel.alpha]
            }
        }
    }

    /// Blue, green, red, from the bottom row up, each row filled to a multiple of four bytes.
    private static func rows24(_ grid: PixelGrid) -> [UInt8] {
        (0..<grid.height).reversed().flatMap { y in
            let row = (0..<grid.width).flatMap { x in
                let pixel = grid[x, y]
                return [pixel.blue, pixel.green, pixel.red]
            }
            return row + [UInt8](repeating: 0, count: (4 - row.count % 4) % 4)
        }
    }
}
