import Foundation
import Halcyon

/// A picture in a file, and what it looks like.
struct FoundPicture: Sendable, Equatable {
    let path: String
    let size: PixelSize
    let format: ImageFormat
    let byteCount: Int
    let hash: PerceptualHash
    let average: Color

    /// Whether this picture looks like `other`.
    ///
    /// - Parameter distance: How many bits of the hashes may differ.
    func looksLike(_ other: FoundPicture, distance: Int) -> Bool {
        hash.distance(to: other.hash) <= distance && hasProportions(of: other)
            && hasColor(of: other)
    }

    /// Whether one is the other in another size, but for rounding to whole pixels.
    private func hasProportions(of other: FoundPicture) -> Bool {
        let (width, height) = (Double(size.width), Double(size.height))
        let (others, otherHeight) = (Double(other.size.width), Double(other.size.height))
        // Half a pixel of rounding weighs more in a small picture.
        let shortest = min(width, height, others, otherHeight)
        let quotient = (width / height) / (others / otherHeight)
        return abs(log(quotient)) <= 0.01 + 1 / shortest
    }

    /// Pictures without any edges, such as two of one colour each, have equal hashes.
    private func hasColor(of other: FoundPicture) -> Bool {
        let differences = [
            average.red - other.average.red, average.green - other.average.green,
            average.blue - other.average.blue, average.alpha - other.average.alpha,
        ]
        return differences.allSatisfy { abs($0) <= 0.1 }
    }
}

extension FoundPicture {
    /// Longer sides are reduced to this before the picture is looked at.
    private static let side = 128.0

    /// The picture in a file; `nil` when it is none.
    /// - Throws: What keeps the file from being read, or its pixels from being decoded.
    static func reading(_ path: String) async throws -> FoundPicture? {
        let data = try await BlockingWork.run {
            try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        }
        let image: Image
        do {
            image = try Image.decoding(data)
        } catch ImageCodingError.emptyData, ImageCodingError.unknownFormat,
            ImageCodingError.unsupported
        {
            return nil
        }
        let room = CGSize(width: side, height: side)
        let isSmall = Double(image.pixelSize.longestSide) <= side
        let small = isSmall ? image : image.kf.resize(to: room, for: .aspectFit)
        let rendered = try await small.rendered()
        return FoundPicture(
            path: path, size: image.pixelSize, format: data.kf.imageFormat, byteCount: data.count,
            hash: try await rendered.kf.pHash(),
            average: try await rendered.kf.palette(count: 1).average)
    }
}
