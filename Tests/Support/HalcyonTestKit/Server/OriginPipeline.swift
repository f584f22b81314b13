import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix

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

/// The channel of a response: an HTTP/1 connection or one stream of an HTTP/2 connection.
struct Connection: Sendable {
    var isHTTP2: Bool
    /// The connection, or the stream.
    var channel: any Channel

    /// The pipeline name of the TLS handler.
    static let tlsHandlerName = "tls"

    /// Aborts the exchange. A stream that is closed early is reset.
    func abort(_ how: Abort) async {
        let channel = channel
        // The client may have disconnected already, which has the same result.
        try? await channel.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            guard how == .reset, !isHTTP2, let socket = channel as? any SocketOptionProvider else {
                return channel.close()
            }
            // A linger time of zero makes close() send RST.
            return socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).flatMap {
                let pipeline = channel.pipeline.syncOperations
                // The TLS handler would first send close_notify.
                guard let tls = try? pipeline.context(name: Self.tlsHandlerName) else {
                    return channel.close()
                }
                let promise = channel.eventLoop.makePromise(of: Void.self)
                tls.close(promise: promise)
                return promise.futureResult
            }
        }.get()
    }

    /// Sends bytes that are not an HTTP message; does nothing on an HTTP/2 stream.
    func sendRaw(_ bytes: ByteBuffer) async throws {
        guard !isHTTP2 else { return }
        let channel = channel
        try await channel.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            do {
                let encoder = try channel.pipeline.syncOperations.context(
                    handlerType: HTTPResponseEncoder.self)
                let promise = channel.eventLoop.makePromise(of: Void.self)
                encoder.writeAndFlush(NIOAny(bytes), promise: promise)
                return promise.futureResult
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }.get()
    }
}
