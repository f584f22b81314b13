import COpenSSL
import NIOCore

/// The settings shared by TLS connections: version 1.2 or newer, and the trusted roots.
final class TLSClient: @unchecked Sendable {
    // Unchecked because of the pointer; the context is only read once it is created.

    fileprivate let context: OpaquePointer

    /// - Parameter roots: A file with certificates in PEM form; `nil` for those of the system.
    /// - Throws: `RedisError` when the file cannot be read.
    init(roots: String?) throws(RedisError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw .unreachable("there is no memory for TLS")
        }
        self.context = context
        // Macros of OpenSSL that Swift does not import.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        let isRead =
            if let roots {
                SSL_CTX_load_verify_locations(context, roots, nil)
            } else {
                SSL_CTX_set_default_verify_paths(context)
            }
        guard isRead == 1 else {
            throw .unreachable("no certificates can be read from \(roots ?? "the system")")
        }
    }

    deinit { SSL_CTX_free(context) }
}

/// TLS for one connection to a server, by OpenSSL: it reads and writes memory, and the channel does the rest.
final class TLSClientHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// With the writes to be sent after it.
        case handshake([(ByteBuffer, EventLoopPromise<Void>?)])
        case open
        case closed
    }

    private let client: TLSClient
    private let connection: OpaquePointer
    /// The encrypted input and output; both belong to `connection`.
    private let incoming: OpaquePointer?
    private let outgoing: OpaquePointer?
    private var phase = Phase.handshake([])
    private var bytes = [UInt8](repeating: 0, count: 16 * 1024)

    /// - Parameter host: The name or address that the server's certificate must match.
    init(_ client: TLSClient, host: String) throws(RedisError) {
        guard let connection = SSL_new(client.context) else {
            throw .unreachable("there is no memory for TLS")
        }
        self.client = client
        self.connection = connection
        incoming = BIO_new(BIO_s_mem())
        outgoing = BIO_new(BIO_s_mem())
        SSL_set_bio(connection, incoming, outgoing)
        SSL_set_connect_state(connection)
        SSL_set1_host(connection, host)
        var name = Array(host.utf8CString)
        SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
    }

    deinit { SSL_free(connection) }

    func channelActive(context: ChannelHandlerContext) {
        shakeHands(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        buffer.withUnsafeReadableBytes { _ = BIO_write(incoming, $0.baseAddress, Int32($0.count)) }
        if case .handshake = phase { shakeHands(context) }
        if case .open = phase { read(context) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let buffer = unwrapOutboundIn(data)
        switch phase {
        case .handshake(let waiting): phase = .handshake(waiting + [(buffer, promise)])
        case .open: encrypt(buffer, context, promise)
        case .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .handshake(let waiting) = phase {
            for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
        }
        phase = .closed
        context.fireChannelInactive()
    }

    private func shakeHands(_ context: ChannelHandlerContext) {
        ERR_clear_error()
        let result = SSL_do_handshake(connection)
        let error = SSL_get_error(connection, result)
        send(context, nil)
        context.flush()
        if result == 1, case .handshake(let waiting) = phase {
            phase = .open
            for (buffer, promise) in waiting { encrypt(buffer, context, promise) }
            context.flush()
        } else if error != SSL_ERROR_WANT_READ {
            fail(context)
        }
    }

    private func read(_ context: ChannelHandlerContext) {
        while true {
            ERR_clear_error()
            let count = SSL_read(connection, &bytes, Int32(bytes.count))
            guard count > 0 else {
                let error = SSL_get_error(connection, count)
                send(context, nil)
                context.flush()
                switch error {
                case SSL_ERROR_WANT_READ: break
                case SSL_ERROR_ZERO_RETURN: context.close(promise: nil)
                default: fail(context)
                }
                return
            }
            context.fireChannelRead(
                wrapInboundOut(context.channel.allocator.buffer(bytes: bytes[..<Int(count)])))
        }
    }

    private func encrypt(
        _ buffer: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        buffer.withUnsafeReadableBytes { bytes in
            // Memory takes everything at once.
            if !bytes.isEmpty { _ = SSL_write(connection, bytes.baseAddress, Int32(bytes.count)) }
        }
        send(context, promise)
    }

    /// Writes OpenSSL's pending output to the connection.
    private func send(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
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

    private func fail(_ context: ChannelHandlerContext) {
        let code = SSL_get_verify_result(connection)
        let reason =
            code == Int(X509_V_OK)
            ? "TLS has failed" : String(cString: X509_verify_cert_error_string(code))
        context.fireErrorCaught(RedisError.broken(reason))
        context.close(promise: nil)
    }
}
