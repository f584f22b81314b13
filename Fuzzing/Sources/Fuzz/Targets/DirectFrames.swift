import Foundation
import Vips

@testable import DirectCodecs

extension FuzzTarget {
    /// Frames by libavif, into no more memory than they are said to need, and in a third of their size.
    static let avif = FuzzTarget(
        "avif",
        seeds: {
            Drawing.files(
                "heifsave_buffer",
                [
                    ["compression": "av1", "effort": 0],
                    ["compression": "av1", "Q": 10, "effort": 0],
                ],
                bands: [3, 4])
                + Drawing.deepFiles(
                    "heifsave_buffer",
                    // With 10 bits, libheif 1.15 makes libaom abort the process.
                    [["compression": "av1", "effort": 0, "bitdepth": 12]])
        }
    ) { data in
        let owner = ByteOwner(data)
        let file = try AVIFFile(
            UnsafeRawBufferPointer(start: owner.pointer, count: owner.count), owner: owner)
        guard file.width <= mostPixels, file.height <= mostPixels / file.width else { return }
        let samples = (file.hasAlpha ? 4 : 3) * (file.depth > 8 ? 2 : 1)
        // A file that fails so may be decoded in small, and the other way round.
        try? decode(file.width * file.height * samples, frames: file.durations.count) {
            try file.next(into: $0)
        }
        try reduceAVIF(data)
    }

    private static func reduceAVIF(_ data: Data) throws {
        let owner = ByteOwner(data)
        let file = try AVIFFile(
            UnsafeRawBufferPointer(start: owner.pointer, count: owner.count), owner: owner)
        guard file.width <= mostPixels, file.height <= mostPixels / file.width else { return }
        let crop = file.transforms.crop
        let width = max(1, (crop?.width ?? file.width) / 3)
        let height = max(1, (crop?.height ?? file.height) / 3)
        let bytesPerPixel = file.channels * file.deliveredDepth / 8
        try decode(width * height * bytesPerPixel, frames: file.durations.count) {
            try file.next(into: $0, width: width, height: height)
        }
    }

    /// Frames by libjxl, in both sizes likewise.
    static let jpegXL = FuzzTarget(
        "jxl",
        seeds: {
            Drawing.files("jxlsave_buffer", [["effort": 3], ["lossless": true]], bands: [1, 3, 4])
                + Drawing.deepFiles("jxlsave_buffer", [["effort": 3], ["lossless": true]])
                + Drawing.animation("jxlsave_buffer", ["effort": 3])
                + [try Drawing.floats().encoded("jxlsave_buffer", ["effort": 3])]
        }
    ) { data in
        let owner = ByteOwner(data)
        let file = try JPEGXLFile(
            UnsafeRawBufferPointer(start: owner.pointer, count: owner.count), owner: owner)
        guard file.width <= mostPixels, file.height <= mostPixels / file.width else { return }
        let samples = file.channels * file.depth / 8
        let (width, height) = (max(1, file.width / 3), max(1, file.height / 3))
        let reduced = UnsafeMutableRawPointer.allocate(
            byteCount: width * height * samples, alignment: 16)
        defer { reduced.deallocate() }
        try decode(file.width * file.height * samples, frames: file.durations.count) {
            try file.next(into: $0)
            guard file.channels >= 3 else { return }
            try file.reduce($0, width: width, height: height, into: reduced)
        }
    }

    /// Decodes the first frames of a file.
    private static func decode(
        _ byteCount: Int, frames: Int, _ next: (UnsafeMutableRawPointer) throws -> Void
    ) throws {
        let pixels = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { pixels.deallocate() }
        for _ in 0..<max(1, min(4, frames)) { try next(pixels) }
    }
}
