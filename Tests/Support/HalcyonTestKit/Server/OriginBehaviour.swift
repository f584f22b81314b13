/// A behaviour of a response besides its status, header fields and body.
public enum OriginBehaviour: Sendable {
    /// Waits before the header is sent.
    case wait(Pause)
    /// Omits `Content-Length`, so that HTTP/1.1 sends the body in chunks.
    case chunked
    /// Sends the body in pieces of `bytes`, paced by `pacing`.
    case slices(bytes: Int, pacing: SlicePacing = .none)
    /// Waits after `bytes` of the body.
    case hold(afterBytes: Int, Pause)
    /// Declares this `Content-Length`, but sends the whole body and closes the connection.
    case declaredLength(Int)
    /// Ends the connection after `bytes` of the body, for all requests of the route or the first
    /// `times`.
    case breakOff(afterBytes: Int, Abort, times: Int? = nil)
    /// Ends the connection without a response, for all requests of the route or the first `times`.
    case abort(Abort, times: Int? = nil)
    /// Encodes the body and sets `Content-Encoding`.
    case encoded(ContentEncoding)
    /// Sets this `ETag`, quotes included, and answers a matching `If-None-Match` with 304.
    case entityTag(String)
    /// Answers a `Range` of bytes with 206, or with 416 if it selects none; respects `If-Range`.
    case ranges
    /// Answers 401 unless the request carries these credentials in the `Basic` scheme.
    case basicAuthentication(Credentials, realm: String = "halcyon")
    /// Answers 401 unless the request proves knowledge of these credentials in the `Digest` scheme.
    case digestAuthentication(
        Credentials, realm: String = "halcyon", algorithm: DigestAlgorithm = .sha256)
}

/// The pauses between the pieces of a body.
public enum SlicePacing: Sendable {
    case none
    /// A pause of this duration before each piece but the first.
    case interval(Duration)
}

/// The kinds of premature end of a connection. An HTTP/2 stream is reset in both cases.
public enum Abort: Hashable, Sendable {
    /// An orderly close, with FIN.
    case close
    /// A close with RST, which the client sees as "connection reset".
    case reset
}

/// A content coding. All use stored blocks, so the body becomes longer, not shorter.
public enum ContentEncoding: String, CaseIterable, Sendable {
    case gzip
    /// The zlib format, which HTTP calls "deflate".
    case deflate
    case br
    case zstd

    public func packed(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .gzip: StoredDeflate.gzip(bytes)
        case .deflate: StoredDeflate.zlib(bytes)
        case .br: StoredBlocks.brotli(bytes)
        case .zstd: StoredBlocks.zstandard(bytes)
        }
    }
}

public struct Credentials: Hashable, Sendable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
