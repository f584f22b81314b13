import Foundation
import HalcyonWork

/// The pictures of pixels within a drawing, as URLs that hold them: librsvg decodes each of them as a whole,
/// and keeps it.
enum SVGPictures {
    /// The pixels of all pictures, each counted once.
    ///
    /// - Throws: `ImageCodingError` for pictures of kinds that are not read here, and for such as are beyond
    ///   `limits` or cannot be read.
    static func pixelCount(
        in outline: SVGOutline, limits: DecodingLimits
    ) throws(ImageCodingError) -> Int {
        var (known, count): (Set<String>, Int) = ([], 0)
        for element in outline.elements where elements.contains(element.name) {
            for link in element.links
            where SVGReferences.isData(Array(link.utf8)) && known.insert(link).inserted {
                count = count.clampedPlus(try pixelCount(of: link, limits))
            }
        }
        return count
    }

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
            try picture.checkScans()
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
