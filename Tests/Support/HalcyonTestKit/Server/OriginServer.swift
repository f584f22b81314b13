public import Foundation
import NIOCore
import NIOPosix

/// A real HTTP server on the loopback interface that answers as it is told and counts what comes.
///
/// It speaks HTTP/1.1, and over TLS also HTTP/2. It stops with `shutdown()` or when the last
/// reference goes.
public final class OriginServer: Sendable {
    /// `http://127.0.0.1:port`, or `https://localhost:port` with TLS.
    public let baseURL: URL
    /// Where it listens.
    public let port: Int

    let state: OriginState
    private let listener: any Channel

    private init(baseURL: URL, port: Int, state: OriginState, listener: any Channel) {
        self.baseURL = baseURL
        self.port = port
        self.state = state
        self.listener = listener
    }

    deinit {
        listener.close(promise: nil)
        state.closeConnections()
    }

    /// The certificate a client has to trust for a server started with `tls: true`.
    public static let certificatePEM = TestCertificate.localhost.certificatePEM

    /// Starts a server; with TLS it has the certificate for `localhost`.
    ///
    /// - Parameters:
    ///   - port: 0 takes any free port.
    ///   - files: Bytes by path, each served as 200 with the content type of its name.
    public static func start(
        tls: Bool = false, host: String = "127.0.0.1", port: Int = 0, files: [String: Data] = [:]
    ) async throws -> OriginServer {
        try await start(tls: tls ? OriginTLS() : nil, host: host, port: port, files: files)
    }

    /// Starts a server with certificates and protocols of choice; `nil` is plain text.
    public static func start(
        tls: OriginTLS?, host: String = "127.0.0.1", port: Int = 0, files: [String: Data] = [:]
    ) async throws -> OriginServer {
        let state = OriginState()
        let pipeline = OriginPipeline(state: state, tls: try tls.map(TLSContext.init))
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer(pipeline.configure)
            .bind(host: host, port: port).get()
        let port = listener.localAddress?.port ?? port
        var address = URLComponents()
        address.scheme = tls == nil ? "http" : "https"
        address.host = tls == nil ? host : "localhost"
        address.port = port
        guard let baseURL = address.url else { throw URLError(.badURL) }

        let server = OriginServer(baseURL: baseURL, port: port, state: state, listener: listener)
        for (path, data) in files {
            let name = path.split(separator: ".").last.map(String.init) ?? ""
            let type = ["png": "image/png", "jpg": "image/jpeg", "gif": "image/gif"][name]
            server.route(path, .ok(data, contentType: type ?? "application/octet-stream"))
        }
        return server
    }

    /// Stops listening, closes all connections and waits until they are closed.
    public func shutdown() async throws {
        // It may be closed already.
        try? await listener.close()
        state.closeConnections()
        await waitForConnections(atMost: 0)
        try Task.checkCancellation()
    }

    /// The address of `path`, which may have a query and may be percent-encoded.
    public func url(_ path: String) -> URL {
        let rooted = path.hasPrefix("/") ? path : "/" + path
        guard let url = URL(string: baseURL.absoluteString + rooted) else {
            preconditionFailure("\(path) cannot be part of a URL")
        }
        return url
    }
}
