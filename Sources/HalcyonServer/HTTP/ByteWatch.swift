import NIOCore

/// Watches the bytes of a connection: how long the head of a request takes.
final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Phase {
        case idle
        case head(Scheduled<Void>)
        case request
        /// No further request is taken.
        case over
    }

    private let headTime: TimeAmount
    private var phase = Phase.idle

    init(headTime: TimeAmount) {
        self.headTime = headTime
    }

    func noteHead() { enter(.request) }

    func noteEnd() {
        if case .over = phase { return }
        phase = .idle
    }

    func stop() { enter(.over) }

    private func enter(_ next: Phase) {
        if case .head(let timer) = phase { timer.cancel() }
        if case .over = phase { return }
        phase = next
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .idle = phase {
            let channel = context.channel
            phase = .head(
                context.eventLoop.scheduleTask(in: headTime) {
                    channel.pipeline.fireUserInboundEventTriggered(ConnectionLimits.Cut())
                })
        }
        context.fireChannelRead(data)
    }

    func handlerRemoved(context: ChannelHandlerContext) { enter(.over) }
}
