import Foundation
import Vips

extension VipsDecoder {
    /// Opens a frame at the smallest scale that the codec offers and that is not below `leastSize`.
    func open(
        _ data: Data, with loader: VipsLoader, header: ImageHeader, frame: Int,
        leastSize: PixelSize?
    ) throws(VipsError) -> VipsImage {
        if let leastSize, leastSize.width > 0, leastSize.height > 0 {
            for request in reductions(header, frame: frame, leastSize: leastSize) {
                let reduced = try loader.open(data, request)
                // Pixels come as stored; the least size is as shown.
                let least = leastSize.turned(by: orientation(of: reduced, header.format))
                if reduced.width >= least.width, reduced.pageHeight >= least.height {
                    return reduced
                }
            }
        }
        return try loader.open(data, VipsLoader.Request(frame: frame))
    }

    /// What to try, from the smallest on.
    private func reductions(
        _ header: ImageHeader, frame: Int, leastSize: PixelSize
    ) -> [VipsLoader.Request] {
        let factor = min(
            Double(header.size.width) / Double(leastSize.width),
            Double(header.size.height) / Double(leastSize.height))
        guard factor > 1 else { return [] }
        switch header.format {
        case .JPEG:
            // A little more than the quotient says is tried: the codec rounds sizes up.
            return [8, 4, 2].filter { Double($0) <= factor * 1.01 }
                .map { VipsLoader.Request(frame: frame, shrink: $0) }
        case .WebP where header.timing == nil, .SVG, .PDF:
            // Sizes are rounded to the nearest, so that half a pixel may be missing.
            let margin = 0.5 / Double(min(header.size.width, header.size.height))
            return [1 / factor, 1 / factor + margin].filter { $0 < 1 }
                .map { VipsLoader.Request(frame: frame, scale: $0) }
        default:
            return []
        }
    }
}
