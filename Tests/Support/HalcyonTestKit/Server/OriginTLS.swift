import COpenSSL
import Foundation

/// The TLS settings of a server: its certificate, client authentication and protocols.
public struct OriginTLS: Sendable {
    /// The server's certificate.
    public var certificate: TestCertificate
    /// The only accepted client certificate; `nil` requests none.
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
}

/// The OpenSSL context of a server's TLS connections.
final class TLSContext: @unchecked Sendable {
    // Unchecked: OpenSSL counts the references to a context itself, and it does not change after
    // `init`.

    struct Unreadable: Error {}

    let context: OpaquePointer
    /// The protocols in ALPN's format, each preceded by its length.
    private let protocols: [UInt8]

    init(_ tls: OriginTLS) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw Unreadable() }
        self.context = context
        protocols = tls.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        let certificate = try Self.certificate(tls.certificate)
        let key = try Self.read(tls.certificate.privateKeyPEM) {
            PEM_read_bio_PrivateKey($0, nil, nil, nil)
        }
        defer {
            X509_free(certificate)
            EVP_PKEY_free(key)
        }
        guard SSL_CTX_use_certificate(context, certificate) == 1,
            SSL_CTX_use_PrivateKey(context, key) == 1
        else { throw Unreadable() }
        if let client = tls.clientCertificate {
            let root = try Self.certificate(client)
            defer { X509_free(root) }
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root)
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        let this = Unmanaged.passUnretained(self).toOpaque()
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, selected, length, offered, count, this in
                // The context outlives its connections.
                let this = Unmanaged<TLSContext>.fromOpaque(this!).takeUnretainedValue()
                return this.select(selected, length, offered, count)
            }, this)
    }

    deinit { SSL_CTX_free(context) }

    /// Selects the first of the server's protocols that the client offers.
    private func select(
        _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ length: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ count: UInt32
    ) -> Int32 {
        var position = 0
        while position < protocols.count {
            let size = Int(protocols[position])
            let name = protocols[position + 1...position + size]
            var other = 0
            while let offered, other < Int(count) {
                let bytes = UnsafeBufferPointer(
                    start: offered + other + 1, count: Int(offered[other]))
                if bytes.elementsEqual(name) {
                    selected?.pointee = bytes.baseAddress
                    length?.pointee = UInt8(size)
                    return SSL_TLSEXT_ERR_OK
                }
                other += 1 + bytes.count
            }
            position += 1 + size
        }
        return SSL_TLSEXT_ERR_NOACK
    }

    private static func certificate(_ certificate: TestCertificate) throws -> OpaquePointer {
        try read(certificate.certificatePEM) { PEM_read_bio_X509($0, nil, nil, nil) }
    }

    private static func read(
        _ text: String, _ body: (OpaquePointer?) -> OpaquePointer?
    ) throws -> OpaquePointer {
        var text = text
        let read = text.withUTF8 { bytes in
            let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(source) }
            return body(source)
        }
        guard let read else { throw Unreadable() }
        return read
    }
}

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
