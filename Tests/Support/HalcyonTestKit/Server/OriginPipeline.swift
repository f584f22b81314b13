import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Puts the handlers of a new connection together.
struct OriginPipeline: Sendable {
    var state: OriginState
    /// `nil` for plain text.
    var tls: TLSContext?

    func configure(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard state.opened(channel) else {
            // A failed set-up closes the connection.
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        guard let tls else { return configureHTTP1(channel) }
        do {
            try channel.pipeline.syncOperations.addHandler(
                TLSServerHandler(tls), name: Connection.tlsHandlerName)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return channel.configureHTTP2SecureUpgrade(
            h2ChannelConfigurator: configureHTTP2, http1ChannelConfigurator: configureHTTP1)
    }

    private func configureHTTP1(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(
                RequestHandler(
                    state: state, connection: Connection(isHTTP2: false, channel: channel)))
        }
    }

    private func configureHTTP2(_ channel: any Channel) -> EventLoopFuture<Void> {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        // Wrong lengths are among the things this server is for.
        configuration.contentLengthValidation = .disabled
        return channel.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: configuration,
            streamConfiguration: NIOHTTP2Handler.StreamConfiguration()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let pipeline = stream.pipeline.syncOperations
                try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                try pipeline.addHandler(
                    RequestHandler(
                        state: state, connection: Connection(isHTTP2: true, channel: stream)))
            }
        }.map { _ in () }
    }
}
