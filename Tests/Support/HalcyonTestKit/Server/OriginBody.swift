public import Foundation
import NIOCore

/// What a response sends after its header.
public struct OriginBody: Sendable {
    enum Content: Sendable {
        case bytes(ByteBuffer)
        case endless(ByteBuffer)
        case raw(ByteBuffer)
    }

    var content: Content

    /// Nothing.
    public static let empty = OriginBody(content: .bytes(ByteBuffer()))

    /// These bytes.
    public static func data(_ data: Data) -> OriginBody {
        OriginBody(content: .bytes(ByteBuffer(bytes: data)))
    }

    /// This text in UTF-8.
    public static func text(_ text: String) -> OriginBody {
        OriginBody(content: .bytes(ByteBuffer(string: text)))
    }

    /// This piece again and again until the client goes away; it must not be empty.
    public static func endless(_ piece: Data) -> OriginBody {
        precondition(!piece.isEmpty, "an endless body repeats at least one byte")
        // A short piece is repeated beforehand, so that it is not written a few bytes at a time.
        var pieces = ByteBuffer()
        repeat { pieces.writeBytes(piece) } while pieces.readableBytes < 16384
        return OriginBody(content: .endless(pieces))
    }

    /// These bytes instead of an HTTP message; then the connection is closed.
    ///
    /// An HTTP/2 stream cannot carry them and is reset.
    public static func raw(_ bytes: Data) -> OriginBody {
        OriginBody(content: .raw(ByteBuffer(bytes: bytes)))
    }
}
