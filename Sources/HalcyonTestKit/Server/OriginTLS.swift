import NIOSSL

/// How a server proves who it is, and whom it lets in.
public struct OriginTLS: Sendable {
    /// What the server shows.
    public var certificate: TestCertificate
    /// The only certificate a client may show; `nil` asks clients for none.
    public var clientCertificate: TestCertificate?
    /// The protocols offered by ALPN, the preferred one first.
    public var protocols: [String]

    public init(
        certificate: TestCertificate = .localhost, clientCertificate: TestCertificate? = nil,
        protocols: [String] = ["h2", "http/1.1"]
    ) {
        self.certificate = certificate
        self.clientCertificate = clientCertificate
        self.protocols = protocols
    }

    func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [
                .certificate(try certificate.parsed())
            ],
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.utf8), format: .pem)))
        configuration.applicationProtocols = protocols
        if let clientCertificate {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([try clientCertificate.parsed()])
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

extension TestCertificate {
    fileprivate func parsed() throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: Array(certificatePEM.utf8), format: .pem)
    }
}
