public import Foundation

/// Something a response does besides sending its status, header fields and body.
public enum OriginBehaviour: Sendable {
    /// Waits before the header is sent.
    case wait(Pause)
    /// Leaves `Content-Length` out, so that HTTP/1.1 sends the body in chunks.
    case chunked
    /// Sends the body in pieces of `bytes`; `pacing` says what happens between them.
    case slices(bytes: Int, pacing: SlicePacing = .none)
    /// Waits when `bytes` of the body are sent.
    case hold(afterBytes: Int, Pause)
    /// Says this `Content-Length`, sends the whole body all the same and closes the connection.
    case declaredLength(Int)
    /// Ends the connection when `bytes` of the body are sent.
    ///
    /// With `times`, only the first so many requests of the route are treated like this.
    case breakOff(afterBytes: Int, Abort, times: Int? = nil)
    /// Ends the connection without any answer, for all requests of the route or the first `times`.
    case abort(Abort, times: Int? = nil)
    /// Encodes the body and says so in `Content-Encoding`.
    case encoded(ContentEncoding)
    /// Says this `ETag`, quotes included, and answers 304 to a matching `If-None-Match`.
    case entityTag(String)
    /// Says this `Last-Modified`.
    case lastModified(Date)
    /// Answers a `Range` of bytes with 206, or 416 when there are none; minds `If-Range`.
    case ranges
    /// Answers 401 unless the request carries these credentials in the `Basic` scheme.
    case basicAuthentication(Credentials, realm: String = "halcyon")
    /// Answers 401 unless the request proves to know these credentials in the `Digest` scheme.
    case digestAuthentication(
        Credentials, realm: String = "halcyon", algorithm: DigestAlgorithm = .sha256)
}

/// What happens between the pieces of a body.
public enum SlicePacing: Sendable {
    /// Nothing: they are written one after the other.
    case none
    /// The time passes before each piece but the first.
    case interval(Duration)
}

/// How a connection ends before its time. An HTTP/2 stream is reset in both cases.
public enum Abort: Hashable, Sendable {
    /// In order, with FIN.
    case close
    /// With RST, which the client sees as "connection reset".
    case reset
}

/// A content coding. All are made of stored blocks, so the body becomes longer, not shorter.
public enum ContentEncoding: String, CaseIterable, Sendable {
    case gzip
    /// The zlib format, which is what HTTP means by this name.
    case deflate
    case br
    case zstd

    /// The bytes in this coding.
    public func packed(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .gzip: StoredDeflate.gzip(bytes)
        case .deflate: StoredDeflate.zlib(bytes)
        case .br: StoredBlocks.brotli(bytes)
        case .zstd: StoredBlocks.zstandard(bytes)
        }
    }
}

/// A user name and a password.
public struct Credentials: Hashable, Sendable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
