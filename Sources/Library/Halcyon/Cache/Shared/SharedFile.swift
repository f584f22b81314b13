import Foundation

/// A cached file in the form exchanged between machines: metadata and bytes.
///
/// The data consists of a magic number, a checksum of everything that follows (eight bytes), the
/// length of the head (four), the head as JSON, and the bytes.
struct SharedFile: Sendable, Equatable {
    enum Origin: Sendable, Equatable {
        case unknown
        case program
        case response(SharedResponse)
    }

    let bytes: Data
    /// `nil` for never.
    let expires: Date?
    let origin: Origin

    private struct Head: Codable {
        let expires: TimeInterval?
        let isOfProgram: Bool
        let response: SharedResponse?
    }

    /// The last character is the version of the format.
    private static let mark = Data("HALCYON1".utf8)

    var data: Data {
        let response: SharedResponse? = if case .response(let found) = origin { found } else { nil }
        let known = Head(
            expires: expires?.timeIntervalSince1970, isOfProgram: origin == .program,
            response: response)
        // Texts and numbers can always be encoded.
        let head = (try? JSONEncoder().encode(known)) ?? Data()
        let content = Data(bigEndian: UInt32(head.count)) + head + bytes
        return Self.mark + Data(bigEndian: UInt64(bitPattern: DiskFile.checksum(content)))
            + content
    }
}

extension SharedFile {
    /// `nil` for damaged data, or another version.
    init?(_ data: Data) {
        var rest = data
        guard rest.take(Self.mark.count) == Self.mark, let checksum = rest.take(8),
            checksum == Data(bigEndian: UInt64(bitPattern: DiskFile.checksum(Data(rest)))),
            let length = rest.take(4),
            let head = rest.take(length.reduce(0) { $0 << 8 | Int($1) }),
            let known = try? JSONDecoder().decode(Head.self, from: head)
        else { return nil }
        bytes = Data(rest)
        expires = known.expires.map { Date(timeIntervalSince1970: $0) }
        origin = known.response.map { .response($0) } ?? (known.isOfProgram ? .program : .unknown)
    }
}

extension Data {
    fileprivate init(bigEndian number: some FixedWidthInteger) {
        self = Swift.withUnsafeBytes(of: number.bigEndian) { Data($0) }
    }

    /// Removes and returns the first bytes; `nil`, with nothing removed, if there are too few.
    fileprivate mutating func take(_ count: Int) -> Data? {
        guard count <= self.count else { return nil }
        defer { self = dropFirst(count) }
        return Data(prefix(count))
    }
}

/// The response of a shared file, without secrets in its key and URL.
struct SharedResponse: Codable, Sendable, Equatable {
    /// The key of its row.
    let key: String
    let url: URL
    let status: Int
    let fields: HTTPFields
    let vary: [String]
    let variant: Data
    let requested: TimeInterval
    let received: TimeInterval
    let length: Int64
    let checksum: Int64

    /// `nil` for a response limited to one user: `private`, or to a request with credentials
    /// without explicit permission to share.
    init?(_ record: ResponseRecord) {
        guard let body = record.body, let stored = record.storedForAll else { return nil }
        key = record.rowKey
        url = stored.url
        status = stored.status
        fields = stored.fields
        vary = stored.vary
        variant = Data(stored.variant)
        requested = stored.requested.timeIntervalSince1970
        received = stored.received.timeIntervalSince1970
        length = body.length
        checksum = body.checksum
    }

    var stored: StoredResponse {
        StoredResponse(
            url: url, status: status, fields: fields, vary: vary, variant: Array(variant),
            requested: Date(timeIntervalSince1970: requested),
            received: Date(timeIntervalSince1970: received))
    }

    var body: ResponseBody { ResponseBody(length: length, checksum: checksum) }
}
