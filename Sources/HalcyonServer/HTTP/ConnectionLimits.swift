import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Ends connections whose clients send the head of a request too slowly, and tells those whose head is too
/// large.
///
/// It stands behind the decoder of HTTP, and puts a handler of bytes before it.
final class ConnectionLimits: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let bytes: ByteWatch
    private var isAnswering = false

    /// - Parameter head: From the first byte of a request to the end of its head.
    init(head: TimeAmount) {
        bytes = ByteWatch(headTime: head)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            try context.pipeline.syncOperations.addHandler(bytes, position: .first)
        } catch {
            // A pipeline that takes no handlers has ended.
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            bytes.noteHead()
            isAnswering = true
        case .end: bytes.noteEnd()
        case .body: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { isAnswering = false }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError, error == .headerOverflow, !isAnswering else {
            context.fireErrorCaught(error)
            return
        }
        let text = "Headers are too large\n"
        let fields: HTTPFields = [
            .contentType: "text/plain; charset=utf-8", .contentLength: "\(text.utf8.count)",
            .connection: "close", .cacheControl: "no-store", .server: "halcyon",
        ]
        let head = HTTPResponse(status: .init(code: 431), headerFields: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        // Until then what the client still sends is taken: otherwise its system would throw the answer away.
        let channel = context.channel
        context.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }
}

/// Watches the bytes of a connection: how long the head of a request takes.
private final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Phase {
        case idle
        case head(Scheduled<Void>)
        case request
    }

    private let headTime: TimeAmount
    private var phase = Phase.idle

    init(headTime: TimeAmount) {
        self.headTime = headTime
    }

    func noteHead() {
        if case .head(let timer) = phase { timer.cancel() }
        phase = .request
    }

    func noteEnd() { phase = .idle }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .idle = phase {
            let channel = context.channel
            phase = .head(
                context.eventLoop.scheduleTask(in: headTime) { channel.close(promise: nil) })
        }
        context.fireChannelRead(data)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if case .head(let timer) = phase { timer.cancel() }
        phase = .idle
    }
}
