import Foundation
import Halcyon
import HalcyonWork

/// A picture file with its perceptual hashes and average colour.
struct FoundPicture: Sendable, Equatable {
    let path: FilePath
    let size: PixelSize
    let format: ImageFormat
    let byteCount: Int
    /// The hash of the colours, on white.
    let hash: PerceptualHash
    /// The hash of the opacity; `nil` where all pixels are opaque.
    let opacityHash: PerceptualHash?
    let average: Color

    /// - Parameter distance: How many bits of the hashes may differ.
    func looksLike(_ other: FoundPicture, distance: Int) -> Bool {
        self.distance(to: other) <= distance && hasProportions(of: other) && hasColor(of: other)
    }

    /// The bits that differ: in the hashes of the colours or of the opacity, whichever are more.
    ///
    /// White icons on transparency have the same colours, and shapes in their opacity alone. An opaque picture
    /// is not compared by opacity: a copy of it without an opacity channel is a copy.
    func distance(to other: FoundPicture) -> Int {
        let opacity = opacityHash.flatMap { own in other.opacityHash.map { own.distance(to: $0) } }
        return max(hash.distance(to: other.hash), opacity ?? 0)
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

    /// The picture in a file; `nil` when the file is not a picture. A failure says what keeps the file from being
    /// read, or its pixels from being decoded.
    static func read(_ argument: ImageArgument) async -> Result<FoundPicture?, LoadFailure> {
        do {
            // A folder that cannot be listed, and a link that leads nowhere, have none.
            _ = try argument.source.get()
            guard let path = argument.file else { return .success(nil) }
            return .success(try await reading(path))
        } catch {
            var failure = LoadFailure(error, at: argument.label)
            if !failure.message.contains(argument.label) {
                failure.message = "\(argument.label): \(failure.message)"
            }
            return .failure(failure)
        }
    }

    private static func reading(_ path: FilePath) async throws -> FoundPicture? {
        let data = try await BlockingWork.run { try path.read() }
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
            opacityHash: try await opacity(of: rendered)?.kf.pHash(),
            average: try await rendered.kf.palette(count: 1).average)
    }

    /// The opacity of each pixel as a grey; `nil` where all are opaque.
    private static func opacity(of image: Image) throws -> Image? {
        let bitmap = try image.bitmap()
        guard bitmap.hasAlpha else { return nil }
        let size = bitmap.size
        var greys = Data(capacity: size.pixelCount * 3)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let grey = UInt8((bitmap[x, y].alpha * 255).rounded())
                greys.append(contentsOf: [grey, grey, grey])
            }
        }
        guard greys.contains(where: { $0 < 255 }) else { return nil }
        return Bitmap(pixels: greys, size: size, channels: 3).map { Image(bitmap: $0) }
    }
}

/// Pictures that look like the first of them, which is the largest.
struct PictureGroup: Sendable, Equatable {
    let pictures: [FoundPicture]

    /// The number of bits in which a picture's hashes differ from the first one's.
    func distance(of picture: FoundPicture) -> Int {
        picture.distance(to: pictures[0])
    }
}

extension PictureGroup {
    /// The groups of at least two, in the order of the first pictures' paths.
    ///
    /// A picture is compared with the largest of each group only, so that all members look like
    /// that one: similarity is not chained.
    static func groups(of pictures: [FoundPicture], distance: Int) -> [PictureGroup] {
        let largestFirst = pictures.sorted {
            let (count, other) = ($0.size.pixelCount, $1.size.pixelCount)
            return count == other ? $0.path.description < $1.path.description : count > other
        }
        var groups: [[FoundPicture]] = []
        for picture in largestFirst {
            let index = groups.firstIndex { $0[0].looksLike(picture, distance: distance) }
            if let index { groups[index].append(picture) } else { groups.append([picture]) }
        }
        return groups.filter { $0.count > 1 }.sorted {
            $0[0].path.description < $1[0].path.description
        }
        .map(PictureGroup.init)
    }
}
