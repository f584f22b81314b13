/// Decides which HTTPS servers are trusted, by a closure of the program.
///
/// Asked once for each new connection, after TLS is established and before a request is sent on it.
/// A refusal closes the connection and fails the download with `ImageTransportError.tls`. Equal only
/// to itself: downloaders with different evaluators share no connections.
public final class ServerTrustEvaluator: Sendable {
    /// Whether the certificate is also verified as usual, beforehand.
    package let verifiesFirst: Bool
    private let isTrusted: @Sendable (ServerTrust) -> Bool

    private init(verifiesFirst: Bool, _ isTrusted: @escaping @Sendable (ServerTrust) -> Bool) {
        self.verifiesFirst = verifiesFirst
        self.isTrusted = isTrusted
    }

    /// Asks about servers whose certificates have been verified as usual; for pinning.
    ///
    /// `isTrusted` runs on a thread of the network and must not wait.
    public static func afterVerification(_ isTrusted: @escaping @Sendable (ServerTrust) -> Bool)
        -> ServerTrustEvaluator
    {
        ServerTrustEvaluator(verifiesFirst: true, isTrusted)
    }

    /// Asks about all servers; nothing else is verified, neither the host name, nor the dates, nor
    /// who signed the certificate. For a known self-signed certificate.
    ///
    /// `isTrusted` runs on a thread of the network and must not wait.
    public static func insteadOfVerification(_ isTrusted: @escaping @Sendable (ServerTrust) -> Bool)
        -> ServerTrustEvaluator
    {
        ServerTrustEvaluator(verifiesFirst: false, isTrusted)
    }

    /// - Parameter chain: The certificates that the server showed, in PEM form, its own first.
    /// - Throws: `TransportError.tls` when the server is not trusted.
    package func check(_ chain: [String], of host: String) throws {
        guard !chain.isEmpty else {
            throw TransportError.tls(host: host, reason: "it has no certificate")
        }
        let certificates = chain.flatMap(PEM.certificates)
        guard certificates.count == chain.count,
            let publicKey = DER.publicKey(ofCertificate: certificates[0])
        else {
            throw TransportError.tls(host: host, reason: "its certificate cannot be read")
        }
        let trust = ServerTrust(
            host: host.lowercased(), certificateChain: certificates, publicKey: publicKey)
        guard isTrusted(trust) else {
            throw TransportError.tls(
                host: host, reason: "its certificate was refused by the server trust evaluator")
        }
    }
}

extension ServerTrustEvaluator: Hashable {
    public static func == (lhs: ServerTrustEvaluator, rhs: ServerTrustEvaluator) -> Bool {
        lhs === rhs
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
