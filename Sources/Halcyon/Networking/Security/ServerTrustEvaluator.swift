public import Foundation
import NIOSSL

/// What a server shows to prove who it is.
public struct ServerTrust: Sendable {
    /// The host of the URL, in lower case.
    public let host: String
    /// The server's own certificate in DER form. The rest of its chain is not available here.
    public let certificate: Data
    /// The public key of that certificate as `SubjectPublicKeyInfo` in DER form, which stays the same
    /// when a certificate is renewed with its key.
    public let publicKey: Data
}

/// Decides which HTTPS servers are trusted, by a closure of the program.
///
/// Asked once for each new connection, after TLS is established and before a request is sent on it.
/// A refusal closes the connection and fails the download with `ImageTransportError.tls`. Equal only
/// to itself: downloaders with different evaluators share no connections.
public final class ServerTrustEvaluator: Sendable {
    /// Whether the certificate is also verified as usual, beforehand.
    let verifiesFirst: Bool
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

    /// - Throws: `ImageTransportError.tls` when the server is not trusted.
    func check(_ certificate: NIOSSLCertificate?, of host: String) throws {
        guard let certificate else {
            throw ImageTransportError.tls(host: host, reason: "it has no certificate")
        }
        let trust: ServerTrust
        do {
            trust = ServerTrust(
                host: host.lowercased(), certificate: Data(try certificate.toDERBytes()),
                publicKey: Data(try certificate.extractPublicKey().toSPKIBytes()))
        } catch {
            throw ImageTransportError.tls(
                host: host, reason: "its certificate cannot be read: \(error)")
        }
        guard isTrusted(trust) else {
            throw ImageTransportError.tls(
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
