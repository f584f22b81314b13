import Foundation
import Vips

@testable import DirectCodecs
@testable import HalcyonPixels

extension FuzzTarget {
    static let gif = FuzzTarget(
        "gif",
        seeds: {
            Drawing.animation("gifsave_buffer")
                + Drawing.files("gifsave_buffer", [[:], ["interlace": true]], bands: [3, 4])
        }
    ) { data in
        let file = GIFFile(data)
        _ = file.firstDamagedFrame(upTo: min(8, file.frames.count - 1), in: data)
        try data.withUnsafeBytes { bytes in
            guard file.isComplete, file.width * file.height <= mostPixels else { return }
            try file.checkIsUsual(bytes)
            let canvas = GIFCanvas(file, bytes)
            let pixels = UnsafeMutablePointer<UInt8>.allocate(
                capacity: file.width * file.height * 4)
            defer { pixels.deallocate() }
            for index in file.frames.indices.prefix(8) {
                try canvas.next(into: pixels, channels: 3 + index % 2)
            }
        }
    }

    static let webp = FuzzTarget(
        "webp",
        seeds: {
            Drawing.animation("webpsave_buffer")
                + Drawing.files(
                    "webpsave_buffer", [[:], ["lossless": true], ["profile": "srgb"]],
                    bands: [3, 4])
        }
    ) { data in
        let owner = ByteOwner(data)
        let bytes = UnsafeRawBufferPointer(start: owner.pointer, count: owner.count)
        let file = try WebPFile(bytes)
        guard file.width * file.height <= mostPixels else { return }
        let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: file.width * file.height * 4)
        defer { pixels.deallocate() }
        guard file.isAnimated else {
            let reader = WebPReader(file, bytes)
            try reader.read(into: pixels, width: file.width, height: file.height)
            for isFast in [false, true] {
                try reader.read(
                    into: pixels, width: max(1, file.width / 3), height: max(1, file.height / 3),
                    isFast: isFast)
            }
            return
        }
        let animation = try WebPAnimation(bytes, owner: owner)
        guard animation.width == file.width, animation.height == file.height else { return }
        for _ in 0..<min(8, file.durations.count) {
            try animation.next(into: pixels, channels: file.channels)
        }
    }
}
