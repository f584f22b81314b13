public import Foundation

/// The response to a route: status, header fields, body and a list of behaviours.
///
/// Start with one of the factories and add behaviours:
///
/// ```swift
/// server.route(
///     "/cat.png", .ok(png, contentType: "image/png").with(.wait(.gate(gate)), .ranges))
/// ```
public struct OriginResponse: Sendable {
    public var status: Int
    public var headers: HeaderFields
    public var body: OriginBody
    /// The behaviours. Their order matters only between several of one kind.
    public var behaviours: [OriginBehaviour]

    public init(
        status: Int = 200, headers: HeaderFields = [:], body: OriginBody = .empty,
        behaviours: [OriginBehaviour] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.behaviours = behaviours
    }

    public func with(_ behaviours: OriginBehaviour...) -> OriginResponse {
        var response = self
        response.behaviours += behaviours
        return response
    }

    public func header(_ name: String, _ value: String) -> OriginResponse {
        var response = self
        response.headers[name] = value
        return response
    }

    public func cacheControl(_ directives: String) -> OriginResponse {
        header("Cache-Control", directives)
    }
}

extension OriginResponse {
    /// 200 with these bytes.
    public static func ok(
        _ data: Data, contentType: String = "application/octet-stream"
    ) -> OriginResponse {
        OriginResponse(headers: ["Content-Type": contentType], body: .data(data))
    }

    public static func png(_ data: Data) -> OriginResponse { .ok(data, contentType: "image/png") }

    public static func html(
        _ page: String = "<!DOCTYPE html><title>Page</title>"
    ) -> OriginResponse {
        OriginResponse(headers: ["Content-Type": "text/html; charset=utf-8"], body: .text(page))
    }

    /// A response of `status`, with the number as its text.
    public static func status(_ status: Int) -> OriginResponse {
        OriginResponse(
            status: status, headers: ["Content-Type": "text/plain"], body: .text("\(status)\n"))
    }

    /// 200 with `Content-Length: 0`.
    public static let empty = OriginResponse()

    /// A redirect; `location` may be relative.
    public static func redirect(to location: String, status: Int = 302) -> OriginResponse {
        OriginResponse(status: status, headers: ["Location": location])
    }

    /// 200 with a body that never ends.
    public static func endless(
        _ piece: Data = Data(repeating: 0x2A, count: 16384)
    ) -> OriginResponse {
        OriginResponse(headers: ["Content-Type": "application/octet-stream"], body: .endless(piece))
    }

    /// Bytes that are not an HTTP message.
    public static func garbage(
        _ bytes: Data = Data("\u{1}\u{2}this is not HTTP\r\n\r\n".utf8)
    ) -> OriginResponse {
        OriginResponse(body: .raw(bytes))
    }

    /// No response: the connection ends when the request is complete.
    public static func abort(_ how: Abort = .close) -> OriginResponse {
        OriginResponse().with(.abort(how))
    }

    /// 200 with these bytes in pieces, with `interval` between them.
    public static func drip(
        _ data: Data, bytes: Int = 1, every interval: Duration
    ) -> OriginResponse {
        .ok(data).with(.slices(bytes: bytes, pacing: .interval(interval)))
    }
}

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
