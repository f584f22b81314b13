import CCodecs
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

    /// The walk before any decoder, and what is read directly.
    static let png = FuzzTarget("png", seeds: files) { data in
        _ = try? data.withUnsafeBytes { bytes in try PNGStructure(bytes) }
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

    /// The frames of animations, as they are drawn onto each other, and as files of their own.
    static let apng = FuzzTarget("apng", seeds: { animations() }) { input in
        let data = withRightChecksums(input)
        try data.withUnsafeBytes { bytes in
            guard let file = try APNGFile(bytes), file.width * file.height <= mostPixels else {
                return
            }
            for index in file.frames.indices.prefix(8) {
                _ = try file.separateFile(of: index, bytes)
            }
            let common = try PNGFile(bytes)
            let channels = file.hasAlpha(common.hasAlpha) ? 4 : 3
            drawDeep(file, channels: channels)
            let canvas = APNGCanvas(file, channels: channels, isDeep: false)
            let pixels = UnsafeMutablePointer<UInt8>.allocate(
                capacity: file.width * file.height * channels)
            defer { pixels.deallocate() }
            for _ in file.frames.prefix(8) {
                try canvas.drawNext(common, bytes)
                canvas.copy(to: pixels)
            }
        }
    }

    /// Draws frames of 16 bits per sample where the file says, some of them without alpha.
    private static func drawDeep(_ file: APNGFile, channels: Int) {
        let canvas = APNGCanvas(file, channels: channels, isDeep: true)
        let pixels = UnsafeMutableRawPointer.allocate(
            byteCount: file.width * file.height * channels * 2, alignment: 16)
        defer { pixels.deallocate() }
        for (index, frame) in file.frames.enumerated().prefix(8) {
            let frameChannels = index % 2 == 1 ? 3 : channels
            let row = (0..<frame.width * frameChannels).map {
                UInt16(truncatingIfNeeded: $0 * 7919)
            }
            row.withUnsafeBytes { row in
                canvas.drawNext(channels: frameChannels) { take in
                    for _ in 0..<frame.height { take(row.baseAddress!) }
                }
            }
            canvas.copy(to: pixels)
        }
    }

    /// A file in which changes of chunks are not answered by their checksums.
    private static func withRightChecksums(_ data: Data) -> Data {
        var bytes = [UInt8](data)
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - offset - 12 else { break }
            let end = offset + 8 + length
            let checksum = bytes.withUnsafeBufferPointer {
                cpng_crc32(0, $0.baseAddress! + offset + 4, length + 4)
            }
            for index in 0..<4 {
                bytes[end + index] = UInt8(truncatingIfNeeded: checksum >> (24 - 8 * UInt32(index)))
            }
            offset = end + 4
        }
        return Data(bytes)
    }

    /// Animations of three frames, with and without opacity, and one with a picture that is no frame.
    private static func animations() -> [Data] {
        [3, 4].flatMap { channels -> [Data] in
            var writer = APNGWriter(
                width: 20, height: 14, channels: channels, frameCount: 3, loopCount: 0)
            var before: [UInt8]?
            for index in 0..<3 {
                let pixels = (0..<20 * 14 * channels).map { place -> UInt8 in
                    place / channels % 20 / 4 == index ? 200 : UInt8(truncatingIfNeeded: place)
                }
                if let before {
                    _ = before.withUnsafeBufferPointer { before in
                        writer?.append(pixels, after: before.baseAddress, seconds: 0.1)
                    }
                } else {
                    _ = writer?.append(pixels, after: nil, seconds: 0.1)
                }
                before = pixels
            }
            guard let whole = writer?.finished() else { return [] }
            // Disposal and blending stand at the end of each description.
            var disposed = whole
            for place in whole.indices.dropLast(34)
            where whole[place..<place + 4].elementsEqual("fcTL".utf8) {
                disposed[place + 28] = UInt8(place % 3)
                disposed[place + 29] = 1
            }
            return [Data(whole), withRightChecksums(Data(disposed))]
        }
    }
}
