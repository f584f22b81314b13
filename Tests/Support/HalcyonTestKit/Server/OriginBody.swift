public import Foundation

/// The body of a response.
public enum OriginBody: Sendable {
    case data(Data)
    /// This piece, which must not be empty, repeated until the client disconnects.
    case endless(Data)
    /// These bytes instead of an HTTP message; then the connection is closed.
    ///
    /// An HTTP/2 stream cannot carry them and is reset.
    case raw(Data)

    public static let empty = OriginBody.data(Data())

    public static func text(_ text: String) -> OriginBody { .data(Data(text.utf8)) }

    /// The number of bytes; `nil` for an endless body.
    var length: Int? {
        switch self {
        case .data(let bytes), .raw(let bytes): bytes.count
        case .endless: nil
        }
    }
}
