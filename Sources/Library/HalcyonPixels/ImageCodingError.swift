import DirectCodecs
public import Foundation
import Vips

/// An error that occurs when bytes cannot be decoded, or pixels not encoded.
public enum ImageCodingError: Error, Equatable, Sendable {
    /// There are no bytes.
    case emptyData
    /// The bytes are of no known image format. `description` says what they look like.
    case unknownFormat(description: String)
    /// The format is known but cannot be read (or written) here; `reason` says why.
    case unsupported(ImageFormat, reason: String)
    /// The image has more pixels than allowed.
    case tooManyPixels(PixelSize, limit: Int)
    /// Decoding the image would take more bytes of memory than allowed.
    case tooMuchMemory(needed: Int, limit: Int)
    /// Decoding the image took longer than allowed, or would.
    case tooSlow(limit: Duration)
    /// The file is far more complex than its size suggests, whatever limits are set; `reason` says
    /// how.
    case tooComplex(ImageFormat, reason: String)
    /// The animation has more frames than are read.
    case tooManyFrames(Int, limit: Int)
    /// The process that decoded the file has exited or returned an invalid response; `reason` is
    /// the signal or another description. The file is not retried.
    case decoderStopped(ImageFormat, reason: String)
    /// The file is damaged or cut short; `reason` is the decoder's own message.
    case corrupt(ImageFormat, reason: String)
    /// An operation on the pixels failed; `reason` is libvips' own message.
    case processing(reason: String)
    /// Pixels could not be written as this format.
    case encodingFailed(ImageFormat, reason: String)
}

extension ImageCodingError {
    package var isBeyondLimit: Bool {
        switch self {
        case .tooManyPixels, .tooMuchMemory, .tooSlow, .tooComplex, .tooManyFrames: true
        default: false
        }
    }
}

extension ImageCodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .emptyData: "The data is empty."
        case .unknownFormat(let description): "The data is not a known image: \(description)."
        case .unsupported(let format, let reason):
            "\(format.rawValue) is not supported: \(reason.plainWords)."
        case .tooManyPixels(let size, let limit):
            "The image has \(size.width)×\(size.height) pixels; the limit is \(limit) pixels."
        case .tooMuchMemory(let needed, let limit):
            // Rounded apart, so that what is beyond a limit does not look equal to it.
            "Decoding the image takes \(Self.mebibytes(needed, .up)) of memory; "
                + "the limit is \(Self.mebibytes(limit, .down))."
        case .tooSlow(let limit):
            "Decoding the image takes longer than the limit of \(Self.seconds(limit))."
        case .tooComplex(let format, let reason):
            "The \(format.rawValue) data is too complex: \(reason.plainWords)."
        case .tooManyFrames(let count, let limit):
            "The image has \(count) frames; the limit is \(limit) frames."
        case .corrupt(let format, let reason):
            "The \(format.rawValue) data is damaged: \(reason.plainWords)."
        case .decoderStopped(let format, let reason):
            "The decoder of \(format.rawValue) stopped (\(reason))."
        case .processing(let reason): "The image could not be processed: \(reason.plainWords)."
        case .encodingFailed(let format, let reason):
            "The image could not be written as \(format.rawValue): \(reason.plainWords)."
        }
    }
}

extension ImageCodingError: LocalizedError {
    public var errorDescription: String? { description }
}

extension ImageCodingError {
    private static func mebibytes(_ bytes: Int, _ rounding: FloatingPointRoundingRule) -> String {
        bytes < 1 << 20
            ? "\(bytes) bytes" : "\(Int((Double(bytes) / 1_048_576).rounded(rounding))) MiB"
    }

    private static func seconds(_ duration: Duration) -> String {
        let seconds = (duration / .milliseconds(1)).rounded() / 1000
        return seconds == 1 ? "1 second" : "\(seconds.formatted) seconds"
    }
}

extension Double {
    /// Without a fraction where there is none.
    fileprivate var formatted: String {
        self == rounded() && magnitude < 1e15 ? String(Int(self)) : String(self)
    }
}

extension String {
    /// A library's message without names of functions and modules, on one line: users know the
    /// file, not the library.
    var plainWords: String { plainWords(orElse: "it cannot be decoded") }

    func plainWords(orElse fallback: String) -> String {
        var lines: [String] = []
        for line in split(whereSeparator: \.isNewline) {
            let words = Self.withoutNames(line)
            if words.contains(where: \.isLetter), !lines.contains(words) { lines.append(words) }
        }
        lines.removeAll { $0 == "error" }
        lines = lines.map { $0 == "libpng read error" ? "its pixels cannot be read" : $0 }
        return lines.isEmpty ? fallback : lines.joined(separator: "; ")
    }

    /// A line without the names before its first colons, and without functions' names in it.
    private static func withoutNames(_ line: Substring) -> String {
        var rest = line.drop(while: \.isWhitespace)
        while let colon = rest.firstIndex(of: ":"), isName(rest[..<colon]) {
            rest = rest[colon...].dropFirst().drop(while: \.isWhitespace)
        }
        return rest.split(separator: " ").filter { !isFunction($0) }.joined(separator: " ")
    }

    /// One word, such as `vipspng` or `TIFFReadDirectory`; a sentence may begin with a capital.
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.first, text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return false }
        return first.isLowercase || text.contains("_") || text.count(where: \.isUppercase) > 1
    }

    /// `JxlDecoderProcessInput`, `vips_image_write`.
    private static func isFunction(_ word: Substring) -> Bool {
        let letters = word.drop { !$0.isLetter }
        if letters.contains("_") { return letters.allSatisfy { $0 == "_" || $0.isLowercase } }
        let humps = zip(letters, letters.dropFirst()).count { $0.isLowercase && $1.isUppercase }
        return humps >= 2 && letters.allSatisfy { $0.isLetter || $0.isNumber }
    }
}

extension CodecRefusal {
    /// The error for a file of `format` that no other decoder can read.
    func codingError(_ format: ImageFormat) -> ImageCodingError {
        switch self {
        case .unusual(let reason): .unsupported(format, reason: reason)
        case .damaged(let reason): .corrupt(format, reason: reason)
        case .tooManyFrames(let count): .tooManyFrames(count, limit: APNGFile.mostFrames)
        }
    }
}

extension ImageFormat {
    /// Runs `body`; a failure of libvips or a refusal of a codec in it becomes one of data of this format.
    func reporting<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as VipsError {
            throw error.codingError(self)
        } catch let refusal as CodecRefusal {
            throw refusal.codingError(self)
        }
    }
}
