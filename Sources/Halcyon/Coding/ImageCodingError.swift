/// Why bytes could not become pixels, or pixels not bytes.
public enum ImageCodingError: Error, Equatable, Sendable {
    /// There are no bytes.
    case emptyData
    /// The bytes are of no known image format. `description` says what they look like.
    case unknownFormat(description: String)
    /// The format is known but cannot be read (or written) here; `reason` says why.
    case unsupported(ImageFormat, reason: String)
    /// The image has more pixels than allowed.
    case tooManyPixels(PixelSize, limit: Int)
    /// The file is damaged or cut short; `reason` is the decoder's own message.
    case corrupt(ImageFormat, reason: String)
    /// An operation on the pixels failed; `reason` is libvips' own message.
    case processing(reason: String)
    /// Pixels could not be written as this format.
    case encodingFailed(ImageFormat, reason: String)
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
        case .corrupt(let format, let reason):
            "The \(format.rawValue) data is damaged: \(reason.plainWords)."
        case .processing(let reason): "The image could not be processed: \(reason.plainWords)."
        case .encodingFailed(let format, let reason):
            "The image could not be written as \(format.rawValue): \(reason.plainWords)."
        }
    }
}
