package import Foundation

/// What HTTP clients differ in; downloaders with equal values share connections.
package struct HTTPClientConfiguration: Hashable, Sendable {
    /// Seconds until a connection must stand.
    package var connectTimeout: TimeInterval = 15
    package var connectionsPerHost = 6
    /// Bytes after content decoding; `nil` for no limit.
    package var maximumResponseSize: Int? = 100 * 1024 * 1024
    /// Certificates in PEM form.
    package var additionalTrustRoots: [String] = []
    package var serverTrustEvaluator: ServerTrustEvaluator?
    package var clientCertificate: ClientCertificate?
    /// Whether the proxies that the environment names are used.
    package var usesEnvironmentProxies = true
    package var addressPolicy = AddressPolicy.unrestricted

    package init() {}
}
