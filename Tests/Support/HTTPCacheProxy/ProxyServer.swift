import Foundation
import HalcyonHTTP
import NIOCore
import NIOHTTP1
import NIOPosix

/// HTTP/1.1 on the loopback interface; each request is answered by a function.
final class ProxyServer: Sendable {
    struct Request: Sendable {
        var method: String
        /// Path and query as sent.
        var target: String
        /// Without those that are for the connection.
        var fields: HTTPFields
        var body: Data
    }

    struct Answer: Sendable {
        var status: Int
        var fields: HTTPFields = [:]
        var body = Data()
    }

    let port: Int
    private let listener: any Channel

    private init(_ listener: any Channel) {
        self.listener = listener
        port = listener.localAddress?.port ?? 0
    }

    static func start(
        port: Int, answering answer: @escaping @Sendable (Request) async -> Answer
    ) async throws -> ProxyServer {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Handler(channel, answer))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        return ProxyServer(listener)
    }

    /// Stops listening. Requests under way are answered.
    func stop() async throws { try await listener.close() }

    /// Collects the requests of a connection; NIO hands over the next when the one before is answered.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let channel: any Channel
        private let answer: @Sendable (Request) async -> Answer
        private var head: HTTPRequestHead?
        private var body = Data()

        init(_ channel: any Channel, _ answer: @escaping @Sendable (Request) async -> Answer) {
            self.channel = channel
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = Data()
            case .body(let bytes):
                body.append(contentsOf: bytes.readableBytesView)
            case .end:
                guard let head else { return }
                self.head = nil
                let request = Request(
                    // NIO forgets the hyphen.
                    method: head.method == .MSEARCH ? "M-SEARCH" : head.method.rawValue,
                    target: head.uri,
                    fields: HTTPFields(head.headers.map { .init(name: $0.name, value: $0.value) })
                        .withoutConnection(keeping: []),
                    body: body)
                start { [answer, channel] in
                    await Self.send(answer(request), to: head, on: channel)
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        private func start(_ work: @escaping @Sendable () async -> Void) {
            Task { await work() }
        }

        private static func send(
            _ answer: Answer, to request: HTTPRequestHead, on channel: any Channel
        ) async {
            var fields = answer.fields.withoutConnection(keeping: [])
            let hasContent = request.method != .HEAD && ![204, 304].contains(answer.status)
            // To HEAD the length is that of what GET would bring.
            if request.method != .HEAD { fields.remove(["content-length"]) }
            if hasContent { fields.append("Content-Length", String(answer.body.count)) }
            if !request.isKeepAlive { fields.append("Connection", "close") }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status),
                headers: HTTPHeaders(fields.lines.map { ($0.name, $0.value) }))
            do {
                channel.write(HTTPServerResponsePart.head(head), promise: nil)
                if hasContent {
                    let bytes = ByteBuffer(bytes: answer.body)
                    channel.write(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
                }
                try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
                if !request.isKeepAlive { try await channel.close() }
            } catch {
                // The client has left.
                channel.close(promise: nil)
            }
        }
    }
}
