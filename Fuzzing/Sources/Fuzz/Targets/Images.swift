import Foundation
import Vips

@testable import HalcyonPixels

extension FuzzTarget {
    /// What programs call: from the header by the estimates to the pixels, whole and reduced, for files of
    /// all formats.
    static let image = FuzzTarget(
        "image",
        seeds: {
            let targets = [jpeg, png, apng, webp, avif, jpegXL, gif, windows, svg] + vips
            return try targets.flatMap { target in
                // Of each some: the many are for the targets themselves.
                try target.seeds().prefix(4)
            }
        }
    ) { data in
        let limits = DecodingLimits(
            maximumPixelCount: mostPixels, maximumMemory: 256 << 20, maximumDuration: .seconds(2))
        let encoded = try EncodedImage(data, limits: limits)
        let header = encoded.header
        precondition(header.size.width > 0 && header.size.height > 0, "a size of nothing")
        precondition(encoded.memory() > 0 && encoded.memory(passedOnAt: nil) >= 0)
        try encoded.checkScans()
        for divisor in [1, 2, 7] {
            let size = PixelSize(
                width: max(1, header.size.width / divisor),
                height: max(1, header.size.height / divisor))
            _ = encoded.memory(passedOnAt: size)
            _ = try? encoded.decode(frame: 0, atLeast: divisor == 1 ? nil : size)
        }
        for onlyFirst in [true, false] {
            let image = try Image.decoding(
                data, options: ImageCreatingOptions(onlyFirstFrame: onlyFirst, limits: limits))
            let bitmap = try image.bitmap()
            precondition(bitmap.size == image.pixelSize, "another size than was told")
            precondition(bitmap.hasAlpha == image.hasAlpha, "another alpha than was told")
        }
    }
}
