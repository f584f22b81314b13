import Foundation
import Vips

@testable import DirectCodecs

extension FuzzTarget {
    private static let files: @Sendable () throws -> [Data] = {
        Drawing.files(
            "pngsave_buffer",
            [
                [:], ["palette": true], ["interlace": true], ["compression": 0], ["bitdepth": 1],
                ["profile": "srgb"],
            ], bands: [1, 2, 3, 4])
            + [try Drawing.image(deep: true).encoded("pngsave_buffer")]
    }

    /// What is read directly.
    static let png = FuzzTarget("png", seeds: files) { data in
        try data.withUnsafeBytes { bytes in
            let file = try PNGFile(bytes)
            guard file.width * file.height <= mostPixels else { return }
            let reader = try PNGReader(file, bytes)
            let pixels = UnsafeMutablePointer<UInt8>.allocate(
                capacity: file.width * file.height * file.channels)
            defer { pixels.deallocate() }
            try reader.read(into: pixels, width: file.width, height: file.height)
            try reader.read(
                into: pixels, width: max(1, file.width / 3), height: max(1, file.height / 3))
        }
    }

    /// The walk before any decoder.
    static let pngStructure = FuzzTarget("png-structure", seeds: files) { data in
        _ = try data.withUnsafeBytes { bytes in try PNGStructure(bytes) }
    }
}
