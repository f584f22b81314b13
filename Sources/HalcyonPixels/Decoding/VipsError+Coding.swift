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

    /// The message without the names of functions and modules that its lines begin with.
    var plainWords: String {
        var lines: [Substring] = []
        for line in message.split(whereSeparator: \.isNewline) {
            let words = Self.withoutNames(line)
            if !words.isEmpty, !lines.contains(words) {
                lines.append(words == "libpng read error" ? "its pixels cannot be read" : words)
            }
        }
        return lines.isEmpty ? "it cannot be read" : lines.joined(separator: "; ")
    }

    private static func withoutNames(_ line: Substring) -> Substring {
        var rest = line.drop(while: \.isWhitespace)
        while let colon = rest.firstIndex(of: ":"), colon > rest.startIndex,
            rest[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
            rest.index(after: colon) < rest.endIndex, rest[rest.index(after: colon)] == " "
        {
            rest = rest[colon...].dropFirst(2).drop(while: \.isWhitespace)
        }
        return rest
    }

    private static let wordsForUnknown = [
        "unsupported", "not supported", "not implemented", "not configured", "sorry,",
        "encrypted",
    ]
    /// A byte that is no JPEG marker is "unsupported", too.
    private static let wordsForDamage = ["marker type"]
}
