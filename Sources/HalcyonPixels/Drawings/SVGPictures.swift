import Foundation
import HalcyonWork

/// The pictures of pixels within a drawing, as URLs that hold them: librsvg decodes each of them as a whole,
/// and keeps it.
struct SVGPictures: Sendable {
    /// Pixels by the index of the element that shows them.
    private var counts: [Int: Int] = [:]
    /// Of all pictures, each once.
    private var allPixels = 0

    /// Nanoseconds for each pixel that decoding takes, and reading it while the picture is drawn.
    private static let decoding = 20.0
    private static let drawing = 10.0

    /// - Throws: `ImageCodingError` for pictures of kinds that are not read here, and for such as are beyond
    ///   `limits` or cannot be read.
    init(in outline: SVGOutline, limits: DecodingLimits) throws(ImageCodingError) {
        var known: [String: Int] = [:]
        for (index, element) in outline.elements.enumerated()
        where Self.elements.contains(element.name) {
            for link in element.links where SVGReferences.isData(Array(link.utf8)) {
                if known[link] == nil {
                    let count = try Self.pixelCount(of: link, limits)
                    known[link] = count
                    allPixels = allPixels.clampedPlus(count)
                }
                counts[index, default: 0] += known[link] ?? 0
            }
        }
    }

    /// Bytes that all of them take at once: as they are decoded, and as they are drawn.
    var memory: Int { allPixels.clampedTimes(8) }

    var nanosecondsToDecode: Double { Double(allPixels) * Self.decoding }

    /// What it takes to draw those of an element.
    func nanosecondsToDraw(_ index: Int) -> Double { Double(counts[index] ?? 0) * Self.drawing }

    private static let elements: Set = ["image", "feImage"]

    private static func pixelCount(
        of link: String, _ limits: DecodingLimits
    ) throws(ImageCodingError) -> Int {
        // As leniently as whoever draws it may read it.
        guard let url = try? DataURI(link, .lenient) else {
            throw .unsupported(.SVG, reason: "a picture in it is in a URL that cannot be read")
        }
        guard !url.data.isEmpty else { return 0 }
        let format = ImageSniffer.format(of: url.data)
        // The kind that the URL states decides who decodes it: one of others may take anything for theirs.
        let name = format == .unknown ? "of an unknown kind" : format.rawValue
        guard formats.contains(format) else {
            throw .unsupported(.SVG, reason: "a picture in it is \(name)")
        }
        guard kinds.contains(url.kind) else {
            throw .unsupported(.SVG, reason: "a picture in it is \(name) stated as \(url.kind)")
        }
        do {
            let picture = try EncodedImage(url.data, limits: limits)
            try picture.checkWork(reducedTo: nil)
            return picture.header.size.pixelCount
        } catch let error as ImageCodingError {
            if error.isBeyondLimit { throw error }
            throw .corrupt(.SVG, reason: "a picture in it cannot be read")
        } catch {
            throw .corrupt(.SVG, reason: "a picture in it cannot be read")
        }
    }

    private static let formats: [ImageFormat] = [.PNG, .JPEG, .GIF, .WebP]

    /// As they are and as they are often miswritten.
    private static let kinds: Set = [
        "", "image/png", "image/x-png", "image/jpeg", "image/jpg", "image/pjpeg", "image/gif",
        "image/webp", "image/*", "img/png", "img/jpeg", "img/jpg", "application/octet-stream",
    ]
}
