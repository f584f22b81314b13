import AsyncHTTPClient
import Foundation
import HalcyonTestKit
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL

/// A response, collected.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var version: HTTPVersion
    var body: Data

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Runs `body` with an HTTP client that is shut down afterwards.
@discardableResult
func withClient<Result: Sendable>(
    trusting certificates: [TestCertificate] = [.localhost], identity: TestCertificate? = nil,
    connections: Int = 8, redirects: Int? = nil, decompresses: Bool = false,
    _ body: (HTTPClient) async throws -> Result
) async throws -> Result {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .certificates(
        try certificates.map {
            try NIOSSLCertificate(bytes: Array($0.certificatePEM.utf8), format: .pem)
        })
    if let identity {
        tls.certificateChain = [
            .certificate(
                try NIOSSLCertificate(bytes: Array(identity.certificatePEM.utf8), format: .pem))
        ]
        tls.privateKey = .privateKey(
            try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem))
    }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    // A refused handshake is an answer, not something to try again.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.redirectConfiguration =
        redirects.map { .follow(max: $0, allowCycles: true) } ?? .disallow
    if decompresses { configuration.decompression = .enabled(limit: .none) }
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
        let result = try await body(client)
        try await client.shutdown()
        return result
    } catch {
        try await client.shutdown()
        throw error
    }
}

extension HTTPClient {
    func get(
        _ url: URL, method: HTTPMethod = .GET, headers: [(String, String)] = [], body: Data? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 26)
        return Answer(
            status: Int(response.status.code), headers: response.headers,
            version: response.version, body: Data(bytes.readableBytesView))
    }
}
