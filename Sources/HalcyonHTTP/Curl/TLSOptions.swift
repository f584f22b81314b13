import CCurl

/// Whom to trust over TLS, and what to show, in the form that libcurl takes.
struct TLSOptions: Sendable {
    private let roots: StableBytes?
    private let certificate: StableBytes?
    private let privateKey: StableBytes?
    private let evaluator: ServerTrustEvaluator?

    /// - Throws: `TransportError` when a root certificate cannot be read.
    init(_ configuration: HTTPClientConfiguration) throws {
        for text in configuration.additionalTrustRoots where PEM.certificates(text).isEmpty {
            throw TransportError.tls(
                host: "any host", reason: "an additional root certificate cannot be read")
        }
        let texts = configuration.additionalTrustRoots
        roots = texts.isEmpty ? nil : StableBytes(texts.joined(separator: "\n"))
        certificate = configuration.clientCertificate.map { StableBytes($0.certificateChainPEM) }
        privateKey = configuration.clientCertificate.map { StableBytes($0.privateKeyPEM) }
        evaluator = configuration.serverTrustEvaluator
    }

    func apply(to handle: EasyHandle, trustsAnyCertificate: Bool) {
        let verifies = !trustsAnyCertificate && evaluator?.verifiesFirst != false
        handle.set(CURLOPT_SSL_VERIFYPEER, verifies)
        handle.set(CURLOPT_SSL_VERIFYHOST, verifies ? 2 : 0)
        handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let roots {
            // The folder is looked into where a root is needed; the file would be read for each
            // connection.
            handle.set(CURLOPT_CAINFO, nil)
            handle.set(CURLOPT_CAPATH, Self.systemFolder)
            handle.set(CURLOPT_CAINFO_BLOB, roots)
        } else if let file = Self.systemFile {
            // The file alone is kept in memory.
            handle.set(CURLOPT_CAINFO, file)
            handle.set(CURLOPT_CAPATH, nil)
        }
        if let certificate, let privateKey {
            handle.set(CURLOPT_SSLCERTTYPE, "PEM")
            handle.set(CURLOPT_SSLCERT_BLOB, certificate)
            handle.set(CURLOPT_SSLKEYTYPE, "PEM")
            handle.set(CURLOPT_SSLKEY_BLOB, privateKey)
        }
        handle.set(CURLOPT_CERTINFO, evaluator != nil)
    }

    /// Where the system keeps its roots, as libcurl was told when it was built.
    private static let systemFile = text(\.cainfo)
    private static let systemFolder = text(\.capath)

    private static func text(
        _ field: KeyPath<curl_version_info_data, UnsafePointer<CChar>?>
    ) -> String? {
        ccurl_version()?.pointee[keyPath: field].map { String(cString: $0) }
    }
}
