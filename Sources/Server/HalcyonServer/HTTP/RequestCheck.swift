import HTTPTypes
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore
import NIOHTTP1

/// Checks the heads of requests: the versions of HTTP differ in which connections stay, and every request has to
/// name one host (RFC 9112, sections 3.2 and 9.3).
///
/// A request that cannot be read becomes one that says so, in its turn behind those before it, and is the last
/// of its connection. It stands between the decoder and the framework's types, which know no versions.
final class RequestCheck: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
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
        case .body:
            context.fireChannelRead(data)
        case .end:
            decoder.noteEnd()
            isInRequest = false
            context.fireChannelRead(data)
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
        guard case .head(var head) = unwrapOutboundIn(data), head.status.code >= 200,
            keepsAlive.popFirst() == true, !head.headers.contains(name: "Connection")
        else {
            context.write(data, promise: promise)
            return
        }
        head.headers.add(name: "Connection", value: "keep-alive")
        context.write(wrapOutboundOut(.head(head)), promise: promise)
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
        context.fireChannelRead(wrapInboundOut(.head(head)))
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
