import CHTTP
import Foundation
package import FoundationNetworking
import Synchronization

/// HTTP/1.1 and HTTP/2 by libcurl. Redirects are not followed; packed bodies are unpacked.
package final class CurlTransport: HTTPTransport {
    package let clientConfiguration: HTTPClientConfiguration
    private let configuration: Configuration
    /// Made when it is needed, so that a program without descriptors for it can go on later.
    private let loop = Mutex<CurlLoop?>(nil)
    private let gate: HostGate

    private init(_ configuration: HTTPClientConfiguration) throws {
        clientConfiguration = configuration
        self.configuration = try Configuration(configuration)
        gate = HostGate(limit: configuration.connectionsPerHost)
    }

    deinit {
        // Nobody waits any longer; connections that are idle, or read a rest, are closed.
        loop.withLock { $0?.stop() }
    }

    /// The thread with the connections.
    private func runningLoop() throws(POSIXError) -> CurlLoop {
        try loop.withLock { (loop) throws(POSIXError) in
            if let loop { return loop }
            let made = try CurlLoop(connectionsPerHost: clientConfiguration.connectionsPerHost)
            loop = made
            return made
        }
    }

    /// How many requests wait for their turn now.
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

    /// The transport for `configuration`, shared by all who use an equal one at the time.
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
    /// What all transfers have in common. Used on the loop's thread alone.
    final class Configuration: @unchecked Sendable {
        // Unchecked: `trusted` is used on the loop's thread alone.

        private let client: HTTPClientConfiguration
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
            // No time at all would be libcurl's own limit.
            handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, min(milliseconds, 31_536_000_000))))
            // A proxy would connect to what is not allowed here.
            if !client.usesEnvironmentProxies || restrictsAddresses {
                handle.set(CURLOPT_PROXY, "")
            }
            tls.apply(to: handle, trustsAnyCertificate: trustsAnyCertificate)
        }

        /// Bytes of a body after its content decoding; `nil` for no limit.
        var bodyLimit: Int? { client.maximumResponseSize }

        /// Whether addresses have to be looked at before they are connected to.
        var restrictsAddresses: Bool { client.addressPolicy.isRestricted }

        /// Why `address` may not be connected to; `nil` when it may.
        func refusal(of address: IPAddress?, host: String) -> TransportError? {
            if let address, client.addressPolicy.allows(address) { return nil }
            let text = address?.description ?? "of an unknown kind"
            return .addressRefused(host: host, address: text)
        }

        /// Looks at a connection before a request is sent on it.
        /// - Throws: `TransportError.addressRefused`, or `.tls` when its server is not trusted.
        func check(
            _ ends: ConnectionEnds, host: String, of handle: EasyHandle, isReused: Bool,
            isSecure: Bool
        ) throws {
            // A connection that has been kept was made for a name, which may have another address now.
            if restrictsAddresses,
                let refusal = refusal(of: IPAddress(ends.remoteAddress), host: host)
            {
                throw refusal
            }
            guard isSecure, let evaluator = client.serverTrustEvaluator else { return }
            if isReused {
                // Of several that wait for a connection the first asks, and is refused perhaps.
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
