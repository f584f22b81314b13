import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonTestKit
import NIOHTTP1

/// A response, collected.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    /// `HTTP/1.1` or `HTTP/2`.
    var version: String
    var body: Data

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// An HTTP client with settings of its own.
struct TestClient: Sendable {
    struct TooManyRedirects: Error {}

    fileprivate let transport: CurlTransport
    /// `nil` takes a redirect as the answer.
    fileprivate let redirectLimit: Int?

    func get(
        _ url: URL, method: String = "GET", headers: [(String, String)] = [], body: Data? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.addValue(value, forHTTPHeaderField: name) }
        for _ in 0...(redirectLimit ?? 0) {
            let (head, body) = try await transport.answer(
                to: request, terms: ExchangeTerms(stall: .seconds(60)))
            guard redirectLimit != nil, let next = try request.redirected(by: head.response) else {
                return Answer(
                    status: head.status,
                    headers: HTTPHeaders(head.fields.map { ($0.name, $0.value) }),
                    version: head.version, body: body)
            }
            request = next
        }
        throw TooManyRedirects()
    }
}

/// Runs `body` with an HTTP client whose connections are closed afterwards.
@discardableResult
func withClient<Result: Sendable>(
    trusting certificates: [TestCertificate] = [.localhost], identity: TestCertificate? = nil,
    connections: Int = 8, redirects: Int? = nil, _ body: (TestClient) async throws -> Result
) async throws -> Result {
    var configuration = HTTPClientConfiguration()
    configuration.additionalTrustRoots = certificates.map(\.certificatePEM)
    configuration.clientCertificate = identity.map {
        ClientCertificate(
            certificateChainPEM: $0.certificatePEM, privateKeyPEM: $0.privateKeyPEM)
    }
    configuration.connectionsPerHost = connections
    // Equal clients would share their connections: each test has one of its own.
    configuration.connectTimeout = 60 + Double.random(in: 0..<1)
    let transport = try CurlTransport.shared(for: configuration)
    return try await body(TestClient(transport: transport, redirectLimit: redirects))
}
