public import Foundation

/// What a response sends after its header.
public enum OriginBody: Sendable {
    /// These bytes.
    case data(Data)
    /// This piece again and again until the client goes away; it must not be empty.
    case endless(Data)
    /// These bytes instead of an HTTP message; then the connection is closed.
    ///
    /// An HTTP/2 stream cannot carry them and is reset.
    case raw(Data)

    /// Nothing.
    public static let empty = OriginBody.data(Data())

    /// This text in UTF-8.
    public static func text(_ text: String) -> OriginBody { .data(Data(text.utf8)) }

    /// `nil` when there is no end.
    var length: Int? {
        switch self {
        case .data(let bytes), .raw(let bytes): bytes.count
        case .endless: nil
        }
    }
}
