package import Foundation
import Testing
package import Vips

@testable package import HalcyonPixels

/// A progressive JPEG file and what it looks like after each scan.
package struct ProgressiveFixture {
    package let data: Data
    /// Where the complete scans end: the bytes up to and including the mark of the next scan or the end.
    package let scanEnds: [Int]

    package var scanCount: Int { scanEnds.count }

    package init(_ data: Data) {
        self.data = data
        scanEnds = WholeJPEG(data).scanEnds
    }

    /// A file with fine and coarse detail, in ten scans (grey: in six).
    package init(
        width: Int = 90, height: Int = 70, bands: Int = 3, fields: [String: VipsValue] = [:]
    )
        throws
    {
        let noise = PixelGrid.noise(width: width, height: height)
        let bitmap = try Bitmap.drawn(width, height) { x, y in
            let pixel = noise[x, y]
            return [
                UInt8(x * 200 / width) + pixel.red / 8, UInt8(y * 200 / height) + pixel.green / 8,
                UInt8((x + y) / 12 % 2 * 180) + pixel.blue / 8,
            ]
        }
        var image = try bitmap.vipsImage()
        if bands == 1 { image = try image.converted(to: .bw) }
        if bands == 4 { image = try image.converted(to: .cmyk) }
        var options: [String: VipsValue] = ["interlace": true, "Q": 85]
        options.merge(fields) { $1 }
        self.init(try image.encoded("jpegsave_buffer", options))
    }

    /// The bytes up to and including the mark that ends scan `scan`, counted from 1.
    package func prefix(_ scan: Int) -> Data {
        data.prefix(scanEnds[scan - 1])
    }

    /// The file with the beginning of a second frame header in its first scan, of a picture `height` pixels
    /// high. It stands behind a reserved mark, which libjpeg skips alone in the place of a restart, while
    /// all others take it for the segment of that mark. Its width is the mark of the scan behind it.
    package func hidingASecondFrame(height: UInt16) throws -> Data {
        let scan = try #require(WholeJPEG(data).scanStarts.first)
        let end = scan + Int(data[scan]) << 8 + Int(data[scan + 1])
        let restarts: [UInt8] = [0xFF, 0xDD, 0, 4, 0, 1]
        let frame: [UInt8] = [0xFF, 0xC2, 0, 11, 8, UInt8(height >> 8), UInt8(height & 255)]
        return data[..<(scan - 2)] + restarts + data[(scan - 2)..<end] + [0xFF, 0x02, 0, 9] + frame
            + data[(scan - 2)...]
    }

    /// The picture that a decoder of whole files makes from the first `scan` scans.
    package func picture(_ scan: Int) throws -> Bitmap {
        try decoded(prefix(scan).dropLast(2) + [0xFF, 0xD9])
    }
}

/// A JPEG file read as a whole, with an index that jumps: the reference for what reads it in pieces.
package struct WholeJPEG {
    package private(set) var scanEnds: [Int] = []
    package private(set) var scanStarts: [Int] = []

    package init(_ data: Data) {
        let bytes = [UInt8](data)
        var index = 2
        while index + 1 < bytes.count {
            guard bytes[index] == 0xFF, bytes[index + 1] != 0xFF else {
                index += 1
                continue
            }
            let code = bytes[index + 1]
            index += 2
            if code == 0xD9 || code == 0xDA, scanEnds.count < scanStarts.count {
                scanEnds.append(index)
            }
            if code == 0xD9 { return }
            if code == 0 || (0xD0...0xD7).contains(code) { continue }
            guard index + 1 < bytes.count else { return }
            if code == 0xDA { scanStarts.append(index) }
            index += Int(bytes[index]) << 8 | Int(bytes[index + 1])
            guard code == 0xDA else { continue }
            while index + 1 < bytes.count,
                bytes[index] != 0xFF || bytes[index + 1] == 0
                    || (0xD0...0xD7).contains(bytes[index + 1])
            { index += 1 }
        }
    }
}
