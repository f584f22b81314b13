public import Foundation

/// The certificates that a server presented.
public struct ServerTrust: Sendable {
    /// The host of the URL, in lower case.
    public let host: String
    /// The server's certificates, each in DER form: its own, and then usually the intermediates.
    /// Only the first is certainly the server's.
    public let certificateChain: [Data]
    /// The public key of the server's own certificate as `SubjectPublicKeyInfo` in DER form, which
    /// stays the same when a certificate is renewed with its key.
    public let publicKey: Data

    /// The server's own certificate in DER form.
    public var certificate: Data { certificateChain[0] }
}

/// The PEM text form of certificates (RFC 7468).
enum PEM {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// The certificates in `text` in DER form; none when one of them cannot be read.
    static func certificates(_ text: String) -> [Data] {
        var certificates: [Data] = []
        var rest = text[...]
        while let start = rest.range(of: begin) {
            guard let stop = rest[start.upperBound...].range(of: end),
                let der = Data(
                    base64Encoded: String(rest[start.upperBound..<stop.lowerBound]),
                    options: .ignoreUnknownCharacters),
                DER.publicKey(ofCertificate: der) != nil
            else { return [] }
            certificates.append(der)
            rest = rest[stop.upperBound...]
        }
        return certificates
    }
}

/// A reader of DER certificates, just enough to find a public key (X.690, RFC 5280).
struct DER {
    private static let sequence: UInt8 = 0x30
    private static let version: UInt8 = 0xA0

    private var bytes: Data.SubSequence

    /// The `SubjectPublicKeyInfo` of a certificate; `nil` when `certificate` is malformed.
    static func publicKey(ofCertificate certificate: Data) -> Data? {
        var outer = DER(bytes: certificate)
        guard var certificate = outer.enter(sequence), var fields = certificate.enter(sequence)
        else { return nil }
        if fields.bytes.first == version, fields.next() == nil { return nil }
        // Serial number, signature algorithm, issuer, validity, subject.
        for _ in 0..<5 where fields.next() == nil { return nil }
        guard fields.bytes.first == sequence else { return nil }
        return fields.next().map { Data($0.whole) }
    }

    /// Enters the next element and returns its content; `nil` if it has another tag.
    private mutating func enter(_ tag: UInt8) -> DER? {
        guard bytes.first == tag, let element = next() else { return nil }
        return DER(bytes: element.content)
    }

    /// Takes the next element; `nil` when there is none, or when it is incomplete.
    private mutating func next() -> (whole: Data.SubSequence, content: Data.SubSequence)? {
        let whole = bytes
        guard bytes.popFirst() != nil, let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            // The size of the length: up to 16 MiB, which no certificate reaches.
            guard (0x81...0x83).contains(first) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7F) {
                guard let byte = bytes.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        return (whole[whole.startIndex..<content.endIndex], content)
    }
}

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

    /// - Parameter chain: The server's certificates in PEM form, its own first.
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

/// The certificate with which this program identifies itself to servers (mutual TLS).
public struct ClientCertificate: Hashable, Sendable {
    /// The certificate, followed by its intermediates, in PEM form.
    public var certificateChainPEM: String
    /// The private key of the first certificate in PEM form, not encrypted.
    public var privateKeyPEM: String

    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The certificate; the private key is not shown.
    public var description: String { certificateChainPEM }

    public var customMirror: Mirror {
        Mirror(self, children: ["certificateChainPEM": certificateChainPEM])
    }
}
