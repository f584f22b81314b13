import HTTPTypes
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Checks the heads of requests: the versions of HTTP differ in which connections stay, and every request has to
/// name one host (RFC 9112, sections 3.2 and 9.3).
///
/// A request that cannot be read becomes one that says so, in its turn behind those before it, and is the last
/// of its connection. It stands between the decoder and the framework's types, which know no versions, and
/// translates the one into the other.
final class RequestCheck: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let decoder: RequestDecoder
    private var isInRequest = false
    /// Whether nothing can be read any more.
    private var isOver = false
    /// For each request without an answer, whether the answer has to say that the connection stays.
    private var keepsAlive = CircularBuffer<Bool>()

    init(_ decoder: RequestDecoder) { self.decoder = decoder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            decoder.noteHead(head)
            isInRequest = true
            read(head, nil, context)
        case .body(let body):
            context.fireChannelRead(wrapInboundOut(.body(body)))
        case .end(let trailers):
            decoder.noteEnd()
            isInRequest = false
            let fields = trailers.map { HTTPTypes.HTTPFields($0, splitCookie: false) }
            context.fireChannelRead(wrapInboundOut(.end(fields)))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isOver else { return }
        let fault = RequestFault(error)
        isOver = fault != nil
        guard let fault, !isInRequest else {
            context.fireErrorCaught(error)
            return
        }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "*")
        read(head, fault, context)
        context.fireChannelRead(wrapInboundOut(.end(nil)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part: HTTPServerResponsePart
        switch unwrapOutboundIn(data) {
        case .head(let response):
            var head = HTTPResponseHead(response)
            if response.status.kind != .informational, keepsAlive.popFirst() == true,
                !head.headers.contains(name: "Connection")
            {
                head.headers.add(name: "Connection", value: "keep-alive")
            }
            part = .head(head)
        case .body(let body): part = .body(.byteBuffer(body))
        case .end(let trailers): part = .end(trailers.map(HTTPHeaders.init))
        }
        context.write(wrapOutboundOut(part), promise: promise)
    }

    private func read(
        _ head: HTTPRequestHead, _ fault: RequestFault?, _ context: ChannelHandlerContext
    ) {
        var head = head
        let fault = fault ?? (Self.isWellFormed(head) ? nil : .malformed)
        let stays = fault == nil && Self.persists(head)
        keepsAlive.append(stays && head.isOfOldVersion)
        if !stays { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        let name = HTTPField.Name.requestFault.rawName
        head.headers.remove(name: name)
        if let fault { head.headers.add(name: name, value: fault.rawValue) }
        do {
            context.fireChannelRead(wrapInboundOut(.head(try Self.request(head))))
        } catch {
            context.fireErrorCaught(error)
        }
    }

    /// The framework's own translation reads every target as a URL, which takes longer than all the rest of it.
    private static func request(_ head: HTTPRequestHead) throws -> HTTPRequest {
        guard head.uri.utf8.first == UInt8(ascii: "/") else {
            return try HTTPRequest(head, secure: false, splitCookie: false)
        }
        return HTTPRequest(
            method: try HTTPRequest.Method(head.method), scheme: "http",
            authority: head.headers["Host"].first, path: head.uri,
            headerFields: HTTPTypes.HTTPFields(head.headers, splitCookie: false))
    }

    private static func isWellFormed(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        switch hosts.count {
        case 0: if !head.isOfOldVersion { return false }
        case 1: if !PublicAddress.isAuthority(hosts[0]) { return false }
        default: return false
        }
        // Without chunks in that version, its end is not where it says (RFC 9112, section 6.1).
        return !head.isOfOldVersion || !head.headers.contains(name: "Transfer-Encoding")
    }

    /// Whether the client may send another request.
    private static func persists(_ head: HTTPRequestHead) -> Bool {
        // What follows such a head is of a protocol that is not spoken.
        if head.method == .CONNECT, head.hasBody { return false }
        let isOld = head.isOfOldVersion
        guard head.headers.contains(name: "Connection") else { return !isOld }
        let options = head.headers[canonicalForm: "Connection"].map { $0.lowercased() }
        return !options.contains("close") && (!isOld || options.contains("keep-alive"))
    }
}

extension HTTPRequestHead {
    /// Whether it is of HTTP/1.0, in which a connection ends with its answer unless both sides say otherwise.
    fileprivate var isOfOldVersion: Bool { version == .http1_0 }

    fileprivate var hasBody: Bool {
        headers.contains(name: "Transfer-Encoding")
            || headers.first(name: "Content-Length").map { $0 != "0" } ?? false
    }
}

extension HTTPField.Name {
    /// Where a request that cannot be read says what is wrong with it; clients cannot send it.
    static let requestFault: Self = {
        guard let name = Self("Halcyon-Request-Fault") else {
            preconditionFailure("the name is a token")
        }
        return name
    }()
}

extension RequestFault {
    /// The fault of a request that came through the check; `nil` for one that can be read.
    init?(in request: HTTPRequest) {
        guard let fault = request.headerFields[.requestFault].flatMap(Self.init(rawValue:)) else {
            return nil
        }
        self = fault
    }

    var failure: Failure {
        switch self {
        case .malformed: Failure(.badRequest, "Malformed request")
        case .unknownMethod: Failure(.methodUnknown, "Unknown method")
        case .targetTooLong: Failure(.urlTooLong, "The URL is too long")
        case .fieldsTooLarge: Failure(.headersTooLarge, "The header fields are too large")
        }
    }
}
