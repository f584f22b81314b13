import CHTTP
import Foundation
package import FoundationNetworking
import Synchronization

/// HTTP/1.1 and HTTP/2 by libcurl. Redirects are not followed; compressed bodies are decoded.
package final class CurlTransport: HTTPTransport {
    private let configuration: Configuration
    /// Created on first use, so that a program that has run out of descriptors can recover.
    private let loop = Mutex<CurlLoop?>(nil)
    private let gate: HostGate

    private init(_ configuration: HTTPClientConfiguration) throws {
        self.configuration = try Configuration(configuration)
        gate = HostGate(limit: configuration.connectionsPerHost)
    }

    deinit {
        // No caller is left; connections that are idle, or read a rest, are closed.
        loop.withLock { $0?.stop() }
    }

    package var clientConfiguration: HTTPClientConfiguration { configuration.client }

    /// The thread with the connections.
    private func runningLoop() throws(POSIXError) -> CurlLoop {
        try loop.withLock { (loop) throws(POSIXError) in
            if let loop { return loop }
            let made = try CurlLoop(connectionsPerHost: clientConfiguration.connectionsPerHost)
            loop = made
            return made
        }
    }

    package var waitingRequestCount: Int { gate.waitingCount }

    package func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes? {
        let request = try OutgoingRequest(request)
        let loop: CurlLoop
        do {
            loop = try runningLoop()
        } catch {
            throw TransportError.cannotConnect(
                host: request.host, reason: String(cString: strerror(error.code.rawValue)))
        }
        let origin = Origin(request.url)
        let host = "\(origin.scheme ?? "")://\(origin.host ?? ""):\(origin.port)"
        try await gate.enter(host, priority: terms.priority)
        let exchange = Exchange(
            request, on: loop, configuration: configuration, terms: terms,
            onHTTP2: { [gate] in gate.multiplex(host) }, onResponse: onResponse, onBody: onBody,
            onEnd: { [gate] in gate.leave(host) })
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.perform { exchange.start(continuation) }
            }
        } onCancel: { [loop] in
            loop.perform { exchange.cancel() }
        }
    }
}

extension CurlTransport {
    private struct WeakTransport {
        weak var transport: CurlTransport?
    }

    private static let transports = Mutex<[HTTPClientConfiguration: WeakTransport]>([:])

    /// The transport for `configuration`, shared with all current users of an equal one.
    package static func shared(for configuration: HTTPClientConfiguration) throws -> CurlTransport {
        if let running = transports.withLock({ $0[configuration]?.transport }) { return running }
        let made = try CurlTransport(configuration)
        return transports.withLock { transports in
            transports = transports.filter { $0.value.transport != nil }
            // Another thread may have been faster.
            if let running = transports[configuration]?.transport { return running }
            transports[configuration] = WeakTransport(transport: made)
            return made
        }
    }
}

extension CurlTransport {
    /// The settings shared by all transfers. Used on the loop's thread alone.
    final class Configuration: @unchecked Sendable {
        // Unchecked: `trusted` is used on the loop's thread alone.

        let client: HTTPClientConfiguration
        private let tls: TLSOptions
        /// The connections that the server trust evaluator has agreed to, by their local port.
        private var trusted: [Int32: ConnectionEnds] = [:]

        init(_ client: HTTPClientConfiguration) throws {
            self.client = client
            tls = try TLSOptions(client)
        }

        /// Sets the options of `handle` that say how a request is sent.
        func apply(to handle: EasyHandle, trustsAnyCertificate: Bool) {
            handle.set(CURLOPT_NOSIGNAL, true)
            handle.set(CURLOPT_QUICK_EXIT, true)
            handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
            handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
            handle.set(CURLOPT_BUFFERSIZE, 64 * 1024)
            handle.set(CURLOPT_MAXAGE_CONN, 60)
            let milliseconds = (client.connectTimeout * 1000).rounded(.up)
            // 0 would select libcurl's own limit.
            handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, min(milliseconds, 31_536_000_000))))
            // A proxy could connect to refused addresses.
            if !client.usesEnvironmentProxies || client.addressPolicy.isRestricted {
                handle.set(CURLOPT_PROXY, "")
            }
            tls.apply(to: handle, trustsAnyCertificate: trustsAnyCertificate)
        }

        func refusal(of address: IPAddress?, host: String) -> TransportError? {
            if let address, client.addressPolicy.allows(address) { return nil }
            let text = address?.description ?? "of an unknown kind"
            return .addressRefused(host: host, address: text)
        }

        /// Checks a connection before a request is sent on it.
        /// - Throws: `TransportError.addressRefused`, or `.tls` when its server is not trusted.
        func check(
            _ ends: ConnectionEnds, host: String, of handle: EasyHandle, isReused: Bool,
            isSecure: Bool
        ) throws {
            // A kept connection was made for a name, which may have another address now.
            if client.addressPolicy.isRestricted,
                let refusal = refusal(of: IPAddress(ends.remoteAddress), host: host)
            {
                throw refusal
            }
            guard isSecure, let evaluator = client.serverTrustEvaluator else { return }
            if isReused {
                // Of several requests waiting for a connection the first asks, and may be refused.
                guard trusted[ends.localPort] == ends else {
                    throw TransportError.tls(
                        host: host, reason: "its certificate was not accepted before")
                }
            } else {
                trusted[ends.localPort] = nil
                try evaluator.check(handle.certificates, of: host)
                trusted[ends.localPort] = ends
            }
        }
    }
}
