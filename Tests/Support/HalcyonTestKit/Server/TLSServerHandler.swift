import COpenSSL
import NIOCore
import NIOTLS

/// TLS for one connection, by OpenSSL on memory buffers; the channel does the I/O.
final class TLSServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The handshake or the connection failed in TLS.
    struct Failure: Error {}

    private enum Phase {
        case handshake
        case open
        case closed
    }

    private let context: TLSContext
    private let connection: OpaquePointer
    /// The buffers of received bytes and of bytes to send, both owned by `connection`.
    private let incoming: OpaquePointer?
    private let outgoing: OpaquePointer?
    private var phase = Phase.handshake
    private var bytes = [UInt8](repeating: 0, count: 16 * 1024)

    init(_ context: TLSContext) throws {
        guard let connection = SSL_new(context.context) else { throw Failure() }
        self.context = context
        self.connection = connection
        incoming = BIO_new(BIO_s_mem())
        outgoing = BIO_new(BIO_s_mem())
        SSL_set_bio(connection, incoming, outgoing)
        SSL_set_accept_state(connection)
    }

    deinit { SSL_free(connection) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        buffer.withUnsafeReadableBytes { _ = BIO_write(incoming, $0.baseAddress, Int32($0.count)) }
        if phase == .handshake { shakeHands(context) }
        if phase == .open { read(context) }
    }

    private func shakeHands(_ context: ChannelHandlerContext) {
        ERR_clear_error()
        let result = SSL_do_handshake(connection)
        let error = SSL_get_error(connection, result)
        send(context, promise: nil)
        context.flush()
        if result == 1 {
            phase = .open
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            SSL_get0_alpn_selected(connection, &name, &length)
            let selected = UnsafeBufferPointer(start: name, count: Int(length))
            context.fireUserInboundEventTriggered(
                TLSUserEvent.handshakeCompleted(
                    negotiatedProtocol: selected.isEmpty
                        ? nil : String(decoding: selected, as: UTF8.self)))
        } else if error != SSL_ERROR_WANT_READ {
            fail(context)
        }
    }

    private func read(_ context: ChannelHandlerContext) {
        while phase == .open {
            ERR_clear_error()
            let count = SSL_read(connection, &bytes, Int32(bytes.count))
            guard count > 0 else {
                let error = SSL_get_error(connection, count)
                send(context, promise: nil)
                context.flush()
                switch error {
                case SSL_ERROR_WANT_READ: break
                case SSL_ERROR_ZERO_RETURN: context.close(promise: nil)
                default: fail(context)
                }
                break
            }
            let buffer = context.channel.allocator.buffer(bytes: bytes[..<Int(count)])
            context.fireChannelRead(wrapInboundOut(buffer))
        }
        context.fireChannelReadComplete()
    }

    private func fail(_ context: ChannelHandlerContext) {
        phase = .closed
        context.fireErrorCaught(Failure())
        context.close(promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // `read` fires this event.
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard phase == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let buffer = unwrapOutboundIn(data)
        buffer.withUnsafeReadableBytes { bytes in
            // A memory buffer takes everything at once.
            if !bytes.isEmpty { _ = SSL_write(connection, bytes.baseAddress, Int32(bytes.count)) }
        }
        send(context, promise: promise)
    }

    /// Writes OpenSSL's pending output to the channel.
    private func send(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        var buffer = context.channel.allocator.buffer(capacity: 0)
        while case let count = BIO_read(outgoing, &bytes, Int32(bytes.count)), count > 0 {
            buffer.writeBytes(bytes[..<Int(count)])
        }
        if buffer.readableBytes > 0 {
            context.write(wrapOutboundOut(buffer), promise: promise)
        } else {
            promise?.succeed(())
        }
    }

    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        if phase == .open {
            phase = .closed
            SSL_shutdown(connection)
            send(context, promise: nil)
            context.flush()
        }
        context.close(mode: mode, promise: promise)
    }
}
