public import Foundation
import HalcyonTesting
import NIOCore
import NIOPosix

/// A server on the loopback interface that answers each request with prepared bytes, whether they are HTTP or
/// not: what no server that knows HTTP would send.
public final class RawServer: Sendable {
    /// The bytes that answer a request, whose header is given as text; `nil` closes the connection.
    public typealias Responder = @Sendable (_ request: String) -> [UInt8]?

    public let port: Int
    private let listener: any Channel
    private let connections: Locked<Int>
    private let received: Locked<[String]>

    private init(
        _ listener: any Channel, _ connections: Locked<Int>, _ received: Locked<[String]>
    ) {
        self.listener = listener
        self.connections = connections
        self.received = received
        port = listener.localAddress?.port ?? 0
    }

    deinit { listener.close(promise: nil) }

    /// Starts a server that answers with what `respond` returns.
    public static func start(_ respond: @escaping Responder) async throws -> RawServer {
        let (connections, received) = (Locked(0), Locked([String]()))
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connections.withLock { $0 += 1 }
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { request in
                            received.withLock { $0.append(request) }
                            return respond(request)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return RawServer(listener, connections, received)
    }

    /// Starts a server that answers the requests with these texts, one after the other, and those after them
    /// with the last.
    public static func start(answers: [String]) async throws -> RawServer {
        let count = Locked(0)
        return try await start { _ in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return Array(answers[min(number, answers.count - 1)].utf8)
        }
    }

    /// Number of connections so far.
    public var connectionCount: Int { connections.value }
    /// The headers of the requests so far.
    public var requests: [String] { received.value }

    public func url(_ path: String) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
            preconditionFailure("\(path) cannot be part of a URL")
        }
        return url
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let respond: Responder
        private var bytes: [UInt8] = []

        init(_ respond: @escaping Responder) { self.respond = respond }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += unwrapInboundIn(data).readableBytesView
            while let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                let request = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                bytes.removeSubrange(..<end.upperBound)
                guard let answer = respond(request) else {
                    context.close(promise: nil)
                    return
                }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
