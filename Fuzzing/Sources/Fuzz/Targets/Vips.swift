import Foundation
import Vips

@testable import DirectCodecs
@testable import HalcyonPixels

extension FuzzTarget {
    /// The loaders of libvips, each with the walk or estimate that stands before it.
    static let vips: [FuzzTarget] = [
        loader("vips-jpeg-png", { $0.first == 0x89 ? "pngload_buffer" : "jpegload_buffer" }) {
            Drawing.files("jpegsave_buffer", [[:], ["interlace": true]])
                + Drawing.files("pngsave_buffer", [[:], ["interlace": true]], bands: [1, 4])
        },
        loader(
            "vips-gif-webp",
            { $0.first == UInt8(ascii: "R") ? "webpload_buffer" : "gifload_buffer" }
        ) {
            Drawing.animation("gifsave_buffer") + Drawing.animation("webpsave_buffer")
        },
        loader("vips-heif", "heifload_buffer") {
            Drawing.files("heifsave_buffer", [["compression": "av1", "effort": 0]], bands: [3, 4])
        },
        loader("vips-jxl", "jxlload_buffer") {
            Drawing.files("jxlsave_buffer", [["effort": 3], ["lossless": true]], bands: [3, 4])
        },
        loader("vips-tiff", "tiffload_buffer") {
            Drawing.files(
                "tiffsave_buffer",
                [[:], ["compression": "deflate"], ["tile": true], ["compression": "jpeg"]],
                bands: [1, 3, 4])
        },
        loader("vips-svg", "svgload_buffer") {
            try FuzzTarget.svg.seeds()
        },
    ]

    private static func loader(
        _ name: String, _ loader: String, seeds: @escaping @Sendable () throws -> [Data]
    ) -> FuzzTarget {
        self.loader(name, { _ in loader }, seeds: seeds)
    }

    /// - Parameter choose: The loader for bytes, by how they begin.
    private static func loader(
        _ name: String, _ choose: @escaping @Sendable (Data) -> String,
        seeds: @escaping @Sendable () throws -> [Data]
    ) -> FuzzTarget {
        FuzzTarget(name, seeds: seeds) { data in
            let loader = choose(data)
            guard !data.isEmpty, Vips.supports(operation: loader) else { return }
            if loader == "pngload_buffer" {
                _ = try data.withUnsafeBytes { bytes in try PNGStructure(bytes) }
            }
            var data = data
            if loader == "svgload_buffer" {
                let document = try SVGDocument(data)
                data = document.data
                // Nothing stops librsvg when it takes too long.
                guard document.drawnCount < 1000, !document.hasFilters else { return }
            }
            let image = try VipsImage.load(
                loader, bytes: data, ["access": "sequential", "fail_on": "error"])
            guard image.width * image.height <= mostPixels else { return }
            _ = try image.convertedToSRGB().rendered()
        }
    }
}
