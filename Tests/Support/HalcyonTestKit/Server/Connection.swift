import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

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
