import DirectCodecs
import Foundation
import Vips

@testable import HalcyonPixels

extension FuzzTarget {
    /// What is asked of any bytes before their format is known, and what files of all formats say of
    /// themselves, as a whole and by their first bytes.
    static let information = FuzzTarget(
        "information",
        seeds: {
            let savers: [(String, [String: VipsValue])] = [
                ("jpegsave_buffer", ["profile": "p3"]), ("pngsave_buffer", ["profile": "srgb"]),
                ("webpsave_buffer", ["profile": "srgb"]), ("webpsave_buffer", ["lossless": true]),
                ("tiffsave_buffer", [:]), ("jxlsave_buffer", ["effort": 3]),
                ("heifsave_buffer", ["compression": "av1", "effort": 0]),
            ]
            let drawings = try [svg, windows].flatMap { try $0.seeds() }
            let others = [
                Data([0, 0, 0, 28]) + Data("ftypavif\0\0\0\0avifmif1miaf".utf8),
                Data("<!DOCTYPE html><html><title>404</title>".utf8), Data("{\"a\": 1}".utf8),
            ]
            return savers.flatMap { Drawing.files($0.0, [$0.1], bands: [3, 4]) }
                + Drawing.animation("gifsave_buffer") + Drawing.animation("webpsave_buffer")
                + (try apng.seeds()) + drawings + others
        }
    ) { data in
        if ImageSniffer.format(of: data) == .unknown { _ = ImageSniffer.describe(data) }
        _ = HEIFProperties(data)
        _ = JPEGFrame(data)
        for count in [data.count / 2, data.count * 9 / 10] {
            guard let information = try? ImageInformation(ofPrefix: data.prefix(count)) else {
                continue
            }
            precondition(
                information.size.width > 0 && information.size.height > 0,
                "a size of nothing was told")
        }
        let information = try ImageInformation(of: data)
        precondition(
            information.size.width > 0 && information.size.height > 0, "a size of nothing was told")
        if let times = information.animation {
            precondition(
                times.durations.count == information.frameCount, "a frame has no time")
        }
    }
}
