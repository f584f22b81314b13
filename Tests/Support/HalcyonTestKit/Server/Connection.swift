import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// How responses leave the server: over an HTTP/1 connection or one stream of an HTTP/2 connection.
struct Connection: Sendable {
    var isHTTP2: Bool
    /// The connection, or the stream.
    var channel: any Channel

    /// The name of the TLS handler, below which bytes are on the wire.
    static let tlsHandlerName = "tls"

    /// Ends the exchange before its time. A stream that is closed before its end is reset.
    func abort(_ how: Abort) async {
        let channel = channel
        // The client may have gone already, which is what is wanted here.
        try? await channel.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            guard how == .reset, !isHTTP2, let socket = channel as? any SocketOptionProvider else {
                return channel.close()
            }
            // Lingering for no time makes close() send RST.
            return socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).flatMap {
                let pipeline = channel.pipeline.syncOperations
                // TLS would first say goodbye in order.
                guard let tls = try? pipeline.context(name: Self.tlsHandlerName) else {
                    return channel.close()
                }
                let promise = channel.eventLoop.makePromise(of: Void.self)
                tls.close(promise: promise)
                return promise.futureResult
            }
        }.get()
    }

    /// Sends bytes that are no HTTP message. A stream has no place for them.
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
