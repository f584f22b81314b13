import Foundation
import HalcyonWork
import NIOCore
import NIOHTTP1

/// Collects requests of one connection or stream and has them answered, one after the other.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let state: OriginState
    private let connection: Connection
    private var head: HTTPRequestHead?
    private var body = Data()
    /// The response under way and its number.
    private var current: (requestID: Int, task: Task<Void, Never>)?

    init(state: OriginState, connection: Connection) {
        self.state = state
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = Data()
        case .body(let bytes):
            body.append(contentsOf: bytes.readableBytesView)
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context: context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let current {
            current.task.cancel()
            state.traffic.update { $0.responseEnded(current.requestID, abandoned: true) }
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Resets and broken handshakes are the client's business; the connection is of no more use.
        context.close(promise: nil)
    }

    private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        let request = RecordedRequest(head, body: body, connection: connection)
        let match = state.match(request)
        let requestID = state.traffic.update { $0.requestReceived(request) }
        let response = match?.responder.response(to: request, ordinal: match?.ordinal ?? 0)
        let plan = ResponsePlanner(
            request: request, ordinal: match?.ordinal ?? 0, nonce: state.nonce
        ).plan(response ?? .status(404))
        if let bytes = plan.immediateBody {
            send(plan, bytes, to: head, requestID: requestID, context: context)
        } else {
            let exchange = Exchange(
                state: state, connection: connection, requestID: requestID,
                head: plan.head(for: head), closesAfterwards: !head.isKeepAlive)
            current = (requestID, Task { await exchange.run(plan) })
        }
    }

    /// Sends a response that needs no waiting, without leaving the event loop.
    private func send(
        _ plan: ResponsePlan, _ bytes: ByteBuffer, to head: HTTPRequestHead, requestID: Int,
        context: ChannelHandlerContext
    ) {
        state.traffic.update { $0.responseEnded(requestID, abandoned: false) }
        context.write(wrapOutboundOut(.head(plan.head(for: head))), promise: nil)
        if bytes.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
        }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !head.isKeepAlive {
            let channel = connection.channel
            written.whenComplete { _ in channel.close(promise: nil) }
        }
    }
}

extension ResponsePlan {
    fileprivate func head(for request: HTTPRequestHead) -> HTTPResponseHead {
        var fields = HTTPHeaders(headers.fields.map { ($0.name, $0.value) })
        if request.version.major == 1, !request.isKeepAlive {
            fields.replaceOrAdd(name: "Connection", value: "close")
        }
        return HTTPResponseHead(
            version: request.version.major == 1 ? .http1_1 : request.version,
            status: HTTPResponseStatus(statusCode: status), headers: fields)
    }
}

extension RecordedRequest {
    fileprivate init(_ head: HTTPRequestHead, body: Data, connection: Connection) {
        var headers = HeaderFields()
        for (name, value) in head.headers { headers.add(name, value) }
        self.init(
            method: head.method.rawValue, target: head.uri, headers: headers, body: body,
            httpVersion: connection.isHTTP2 ? "2" : "\(head.version.major).\(head.version.minor)")
    }
}
