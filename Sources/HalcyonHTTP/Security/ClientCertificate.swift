/// What this program shows to servers that ask who it is (mutual TLS).
public struct ClientCertificate: Hashable, Sendable {
    /// The certificate and then those that lead to a root, in PEM form.
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
