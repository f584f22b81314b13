import Foundation
import NIOCore
import NIOPosix

/// An HTTP server that answers GET from memory with as little work as possible: one thread, whole
/// responses made in advance, connections kept alive.
struct OriginServer: Sendable {
    let port: Int
    private let listener: any Channel
    private let group: MultiThreadedEventLoopGroup

    static func start(bodies: [String: Data]) async throws -> OriginServer {
        let responses = bodies.mapValues { OriginResponse.ok($0) }
        let staleResponses = bodies.mapValues { OriginResponse.ok($0, OriginResponse.stale) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let counter = RequestCounter()
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        OriginHandler(
                            responses: responses, staleResponses: staleResponses, counter: counter))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else {
            throw BenchmarkError("The origin server has no port")
        }
        return OriginServer(port: port, listener: listener, group: group)
    }

    func stop() async throws {
        try await listener.close()
        try await group.shutdownGracefully()
    }
}

/// Whole responses, head and body in one buffer.
enum OriginResponse {
    static func ok(
        _ body: Data, _ fields: String = "", contentType: String = "image/jpeg"
    ) -> ByteBuffer {
        make("200 OK", fields, contentType: contentType, body: body)
    }

    /// The fields of a picture that is stale at once and may be shown all the same.
    static let stale = "ETag: \"1\"\r\nCache-Control: max-age=0, stale-while-revalidate=86400\r\n"

    static let notModified: ByteBuffer = {
        var buffer = ByteBuffer()
        buffer.writeString("HTTP/1.1 304 Not Modified\r\n\(stale)\r\n")
        return buffer
    }()

    static let notFound = make("404 Not Found", contentType: "text/plain", body: Data())

    private static func make(
        _ status: String, _ fields: String = "", contentType: String, body: Data
    ) -> ByteBuffer {
        let head =
            "HTTP/1.1 \(status)\r\nContent-Type: \(contentType)\r\n\(fields)"
            + "Content-Length: \(body.count)\r\n\r\n"
        var buffer = ByteBufferAllocator().buffer(capacity: head.utf8.count + body.count)
        buffer.writeString(head)
        buffer.writeBytes(body)
        return buffer
    }
}
