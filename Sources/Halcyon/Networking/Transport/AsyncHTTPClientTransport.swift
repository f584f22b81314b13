import AsyncHTTPClient
import Dispatch
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// HTTP/1.1 and HTTP/2 by AsyncHTTPClient. Redirects are not followed; gzip and deflate are decoded.
final class AsyncHTTPClientTransport: ImageTransport {
    let configuration: HTTPClientConfiguration
    /// By host where a server trust evaluator has to be told the host; under `""` otherwise.
    private let clients = Mutex<[String: HTTPClient]>([:])
    private let gate: HostGate
    private let probe = ConnectionProbe()
    /// For hosts whose certificate is not verified.
    private let unverifiedTLS: TLSConfiguration

    private init(_ configuration: HTTPClientConfiguration) throws {
        self.configuration = configuration
        var tls = try configuration.tlsConfiguration()
        tls.certificateVerification = .none
        unverifiedTLS = tls
        gate = HostGate(limit: configuration.connectionsPerHost)
    }

    /// The client for requests to `host`.
    private func client(for host: String) throws -> HTTPClient {
        let onlyHost = configuration.serverTrustEvaluator.map { _ in host.lowercased() }
        return try clients.withLock { clients in
            if let client = clients[onlyHost ?? ""] { return client }
            let client = HTTPClient(
                eventLoopGroupProvider: .singleton,
                configuration: try configuration.clientConfiguration(probe, onlyHost: onlyHost))
            clients[onlyHost ?? ""] = client
            return client
        }
    }

    deinit {
        // Nobody uses the clients any more, so there is nothing to fail; their idle connections
        // close in the background.
        for client in clients.withLock({ $0.values }) {
            client.shutdown(queue: .global()) { _ in }
        }
    }

    /// How many requests wait for their turn now.
    var waitingRequestCount: Int { gate.waitingCount }

    func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes? {
        var outgoing = try HTTPClient.Request(
            request, tls: terms.trustsAnyCertificate ? unverifiedTLS : nil)
        let host = "\(outgoing.scheme)://\(outgoing.host):\(outgoing.port)"
        let exchange = Exchange(
            url: outgoing.url, host: outgoing.host, terms: terms,
            onHTTP2: { [gate] in gate.multiplex(host) }, onResponse: onResponse, onBody: onBody)
        try await gate.enter(host, priority: terms.priority)
        defer { gate.leave(host) }
        let client = try client(for: outgoing.host)
        let number = probe.register { exchange.requestLeaves(isConnectionReused: $0) }
        defer { probe.unregister(number) }
        outgoing.headers.replaceOrAdd(name: ConnectionProbe.fieldName, value: number)
        let request = outgoing
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchange.start(continuation) {
                    client.execute(
                        request: request, delegate: exchange,
                        deadline: terms.deadline.map(NIODeadline.init))
                }
            }
        } onCancel: {
            exchange.cancel()
        }
    }
}

extension AsyncHTTPClientTransport {
    private struct WeakTransport {
        weak var transport: AsyncHTTPClientTransport?
    }

    private static let transports = Mutex<[HTTPClientConfiguration: WeakTransport]>([:])

    /// The transport for `configuration`, shared by all who use an equal one at the time.
    static func shared(for configuration: HTTPClientConfiguration) throws
        -> AsyncHTTPClientTransport
    {
        if let running = transports.withLock({ $0[configuration]?.transport }) { return running }
        let made = try AsyncHTTPClientTransport(configuration)
        return transports.withLock { transports in
            transports = transports.filter { $0.value.transport != nil }
            // Another thread may have been faster.
            if let running = transports[configuration]?.transport { return running }
            transports[configuration] = WeakTransport(transport: made)
            return made
        }
    }
}

extension HTTPClient.Request {
    /// `request` with the header fields that every download has.
    /// - Throws: `ImageTransportError`.
    fileprivate init(_ request: URLRequest, tls: TLSConfiguration?) throws {
        guard let url = request.url, HTTPURL.isDownloadable(url) else {
            throw ImageTransportError.unsupportedURL(request.url?.absoluteString ?? "")
        }
        var headers = HTTPHeaders()
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            headers.add(name: name, value: value)
        }
        for (name, value) in [("Accept", "image/*,*/*;q=0.8"), ("User-Agent", "Halcyon")]
        where !headers.contains(name: name) {
            headers.add(name: name, value: value)
        }
        // Only what is decoded here may be offered.
        if headers.first(name: "Accept-Encoding") != "identity" {
            headers.replaceOrAdd(name: "Accept-Encoding", value: "gzip, deflate")
        }
        let method = request.httpMethod ?? "GET"
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw ImageTransportError.invalidRequest(
                url: url.absoluteString, reason: "its method is not made of the letters A to Z")
        }
        do {
            try self.init(
                url: url, method: HTTPMethod(rawValue: method),
                headers: headers, body: request.httpBody.map { .data($0) }, tlsConfiguration: tls)
        } catch {
            throw ImageTransportError(error, url: url.absoluteString, host: url.host ?? "")
        }
    }
}

extension NIODeadline {
    /// The same moment on NIO's clock.
    init(_ instant: ContinuousClock.Instant) {
        let rest = (instant - ContinuousClock().now) / .seconds(1)
        self = .now() + .seconds(rest)
    }
}
