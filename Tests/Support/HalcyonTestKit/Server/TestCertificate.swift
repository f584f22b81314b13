import Foundation

/// A certificate and its private key, made for tests only: a file of `Tests/Samples`.
///
/// The keys are public: they are part of this source. Nothing but a test may trust them.
/// Each certificate is self-signed (P-256), so it is its own trust anchor.
public struct TestCertificate: Hashable, Sendable {
    /// The certificate in PEM form.
    public let certificatePEM: String
    /// The private key (PKCS #8) in PEM form.
    public let privateKeyPEM: String

    private init(_ name: String) {
        let mark = "-----BEGIN PRIVATE KEY-----"
        guard let bytes = try? SampleFile.data("certificate-\(name).pem"),
            case let text = String(decoding: bytes, as: UTF8.self),
            let key = text.range(of: mark)
        else { preconditionFailure("the certificate \(name) cannot be read") }
        certificatePEM = String(text[..<key.lowerBound])
        privateKeyPEM = String(text[key.lowerBound...])
    }

    /// Valid 2020-2120 for `localhost`, `127.0.0.1` and `::1`.
    public static let localhost = TestCertificate("localhost")
    /// Valid 2020-2120, but only for `wrong-host.invalid`.
    public static let wrongHost = TestCertificate("wrongHost")
    /// For `localhost`, but expired at the start of 2001.
    public static let expired = TestCertificate("expired")
    /// Valid 2020-2120, for a client that has to show who it is.
    public static let client = TestCertificate("client")
}
