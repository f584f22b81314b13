import HalcyonCluster
import NIOCore

/// Watches the bytes of a connection: how long the head of a request takes.
///
/// Time in which nothing is read from the connection does not count: then it is not the client that is slow.
final class ByteWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case idle
        /// With its timer, unless the bytes that have just come may be all of it.
        case head(Scheduled<Void>?)
        case request
        /// No further request is taken.
        case over
    }

    private let headTime: TimeAmount
    private var phase = Phase.idle
    /// Whether the server is ready for more bytes.
    private var isReading = false

    init(headTime: TimeAmount) { self.headTime = headTime }

    func noteHead() { enter(.request) }

    func noteEnd() {
        if case .over = phase { return }
        phase = .idle
    }

    func stop() { enter(.over) }

    private func enter(_ next: Phase) {
        if case .head(let timer) = phase { timer?.cancel() }
        if case .over = phase { return }
        phase = next
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .idle = phase { phase = .head(nil) }
        context.fireChannelRead(data)
        if case .head(nil) = phase { watchHead(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    func handlerRemoved(context: ChannelHandlerContext) { enter(.over) }

    private func watchHead(_ context: ChannelHandlerContext) {
        phase = .head(
            context.eventLoop.after(headTime) { [self] in
                if isReading {
                    context.fireUserInboundEventTriggered(ConnectionLimits.SlowHead())
                } else {
                    watchHead(context)
                }
            })
    }
}
