import Foundation
import Halcyon

/// A thumbnail made with Halcyon, from bytes to pixels in memory.
enum Thumbnail {
    static func make(
        of data: Data, side: Int, quality: DownsamplingQuality = .best
    ) async throws -> Image {
        let processor = DownsamplingImageProcessor(
            size: CGSize(width: side, height: side), quality: quality)
        let options = KingfisherParsedOptionsInfo(nil)
        guard let image = processor.process(item: .data(data), options: options) else {
            throw BenchmarkError("Halcyon does not read the photograph")
        }
        return try await image.rendered()
    }
}

extension Bitmap {
    /// The pixels as RGB rows without padding; nothing of them may be transparent.
    var rgb: Data {
        withUnsafeBytes { bytes in
            if channels == 3 { return Data(bytes) }
            var data = Data(capacity: size.width * size.height * 3)
            for pixel in stride(from: 0, to: bytes.count, by: 4) {
                data.append(contentsOf: bytes[pixel..<pixel + 3])
            }
            return data
        }
    }
}
