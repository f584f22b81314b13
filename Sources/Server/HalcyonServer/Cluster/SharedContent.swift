import Foundation
import HalcyonServerURLs
import NIOCore
import NIOFoundationCompat

/// The content of a shared record: a letter for the kind, the length of its head, the head, and the
/// bytes or the name of their object.
enum SharedContent: Sendable {
    /// - Parameter head: The metadata of the bytes; may be empty.
    case bytes(head: Data, ByteBuffer)
    /// The bytes are an object of the store of bytes.
    case object(head: Data, name: String)
    /// The metadata of bytes that each server has to get for itself when it needs them.
    case head(Data)
    /// There is something, and each server has to get it for itself.
    case elsewhere
    /// - Parameter key: The key of the picture that failed; `nil` for a source.
    case failure(Failure, of: String?)

    /// `nil` for malformed content, or a kind that this version does not know.
    init?(_ buffer: ByteBuffer) {
        var buffer = buffer
        guard let kind = buffer.readInteger(as: UInt8.self),
            let length = buffer.readInteger(as: UInt32.self),
            let head = buffer.readData(length: Int(length))
        else { return nil }
        switch Unicode.Scalar(kind) {
        case "b": self = .bytes(head: head, buffer)
        case "o": self = .object(head: head, name: String(buffer: buffer))
        case "h": self = .head(head)
        case "e": self = .elsewhere
        case "f":
            guard let shared = try? JSONDecoder().decode(SharedFailure.self, from: head),
                let failure = shared.failure
            else { return nil }
            self = .failure(failure, of: shared.key)
        default: return nil
        }
    }

    var buffer: ByteBuffer {
        switch self {
        case .bytes(let head, let body): Self.buffer("b", head, body)
        case .object(let head, let name): Self.buffer("o", head, ByteBuffer(string: name))
        case .head(let head): Self.buffer("h", head)
        case .elsewhere: Self.buffer("e", Data())
        case .failure(let failure, let key):
            // Texts and numbers are always JSON.
            Self.buffer("f", (try? JSONEncoder().encode(SharedFailure(failure, of: key))) ?? Data())
        }
    }

    private static func buffer(
        _ kind: Unicode.Scalar, _ head: Data, _ body: ByteBuffer = ByteBuffer()
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(5 + head.count + body.readableBytes)
        buffer.writeInteger(UInt8(ascii: kind))
        buffer.writeInteger(UInt32(head.count))
        buffer.writeData(head)
        buffer.writeImmutableBuffer(body)
        return buffer
    }
}

/// A failure that others would meet, too.
private struct SharedFailure: Codable {
    let code: String
    let status: Int?
    let detail: String
    let key: String?

    init(_ failure: Failure, of key: String?) {
        self.key = key
        code = failure.kind.code
        detail = failure.detail
        status = if case .sourceStatus(let status) = failure.kind { status } else { nil }
    }

    /// `nil` for one that is not shared.
    var failure: Failure? {
        if let status { return Failure(.sourceStatus(status), detail) }
        return Self.kinds.first { $0.code == code }.map { Failure($0, detail) }
    }

    private static let kinds: [Failure.Kind] = [
        .sourceUnreachable, .sourceNotFound, .sourceFormat, .sourceTooComplex, .sourceDamaged,
    ]
}
