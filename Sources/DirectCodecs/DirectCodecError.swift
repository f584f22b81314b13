/// Why a file could not be read or written directly.
public enum DirectCodecError: Error, Equatable, Sendable {
    /// The file is damaged or cut short; the text is the codec's own message.
    case corrupt(String)
    /// Pixels could not be written; the text is the codec's own message.
    case encodingFailed(String)
}
