import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTPCompression
import NIOSSL

/// What HTTP clients differ in; downloaders with equal values share one client.
struct HTTPClientConfiguration: Hashable, Sendable {
    /// Seconds until a connection must stand.
    var connectTimeout: TimeInterval = 15
    var connectionsPerHost = 6
    /// Bytes after content decoding; `nil` for no limit.
    var maximumResponseSize: Int? = 100 * 1024 * 1024
    /// Certificates in PEM form.
    var additionalTrustRoots: [String] = []
    var serverTrustEvaluator: ServerTrustEvaluator?
    var clientCertificate: ClientCertificate?

    /// How certificates are verified.
    /// - Throws: `ImageTransportError` when a certificate or a key cannot be read.
    func tlsConfiguration() throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        do {
            tls.additionalTrustRoots = try additionalTrustRoots.map {
                .certificates(try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)))
            }
        } catch {
            throw ImageTransportError.tls(
                host: "any host", reason: "an additional root certificate cannot be read: \(error)")
        }
        try clientCertificate?.apply(to: &tls)
        if serverTrustEvaluator?.verifiesFirst == false { tls.certificateVerification = .none }
        return tls
    }

    /// - Parameters:
    ///   - probe: Watches the connections.
    ///   - onlyHost: The only host that is connected to, if the server trust evaluator is to be
    ///     asked; connections do not know theirs.
    func clientConfiguration(_ probe: ConnectionProbe, onlyHost: String?) throws
        -> HTTPClient.Configuration
    {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try tlsConfiguration(), redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(connectTimeout)),
            decompression: .enabled(limit: maximumResponseSize.map { .size($0) } ?? .none))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        // A refused connection is refused: whether to try again is the retry strategy's business.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A span that nobody records costs as much as a connection's bookkeeping.
        configuration.tracing.tracer = nil
        let evaluator = serverTrustEvaluator
        configuration.http1_1ConnectionDebugInitializer = { connection in
            Self.prepare(connection) {
                try Self.check(connection, of: onlyHost, with: evaluator)
                try probe.watch(connection)
            }
        }
        configuration.http2ConnectionDebugInitializer = { connection in
            Self.prepare(connection) {
                try Self.check(connection, of: onlyHost, with: evaluator)
                try probe.count(connection)
            }
        }
        configuration.http2StreamChannelDebugInitializer = { stream in
            Self.prepare(stream) { try probe.watch(stream: stream) }
        }
        return configuration
    }

    /// Runs `body` before the first request is sent on `channel`, and closes it on an error.
    private static func prepare(_ channel: any Channel, _ body: () throws -> Void)
        -> EventLoopFuture<Void>
    {
        do {
            try body()
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            // After the client has been told that there is no connection.
            channel.eventLoop.execute { channel.close(promise: nil) }
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Asks `evaluator` about the server of a TLS connection.
    private static func check(
        _ connection: any Channel, of host: String?, with evaluator: ServerTrustEvaluator?
    ) throws {
        guard let evaluator, let host else { return }
        let pipeline = connection.pipeline.syncOperations
        // A connection without the handler is one without TLS.
        guard (try? pipeline.context(handlerType: NIOSSLClientHandler.self)) != nil else { return }
        try evaluator.check(try pipeline.nioSSL_peerCertificate(), of: host)
    }
}

extension TimeAmount {
    /// `seconds` in whole nanoseconds, between zero and a year.
    static func seconds(_ seconds: TimeInterval) -> TimeAmount {
        .nanoseconds(Int64(max(0, min(seconds, 31_536_000)) * 1_000_000_000))
    }
}
