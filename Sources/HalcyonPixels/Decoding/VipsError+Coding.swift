import Foundation
import Vips

extension VipsError {
    /// What a failure to read a file of `format` means: what libvips and its codecs do not know is
    /// unsupported, everything else damage.
    func codingError(_ format: ImageFormat) -> ImageCodingError {
        let words = plainWords
        let lowercased = words.lowercased()
        // libheif decodes another size than it tells.
        if lowercased.contains("bad image dimensions on decode") {
            return .unsupported(format, reason: "the way it is cropped or turned is not read")
        }
        let isUnknown =
            Self.wordsForUnknown.contains { lowercased.contains($0) }
            && !Self.wordsForDamage.contains { lowercased.contains($0) }
        return isUnknown
            ? .unsupported(format, reason: words) : .corrupt(format, reason: words)
    }

    /// The message without the names of functions and modules in it.
    var plainWords: String { message.plainWords(orElse: "it cannot be read") }

    private static let wordsForUnknown = [
        "unsupported", "not supported", "not implemented", "not configured", "sorry,",
        "encrypted",
    ]
    /// A byte that is no JPEG marker is "unsupported", too.
    private static let wordsForDamage = ["marker type"]
}
