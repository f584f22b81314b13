import Foundation
import CHTTP

/// One transfer of libcurl, used again for later ones. Used on the thread of its loop alone.
struct EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// Where libcurl says in words what went wrong.
    private let errorText: UnsafeMutablePointer<CChar>

    /// `nil` when there is no memory for it.
    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    }

    /// Ends the use of the handle.
    func free() {
        curl_easy_cleanup(pointer)
        errorText.deallocate()
    }

    /// Forgets all options of the transfer before.
    func reset() {
        curl_easy_reset(pointer)
        errorText.pointee = 0
        ccurl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
    }

    /// What went wrong, in libcurl's words; empty when it does not say.
    var errorMessage: String { String(cString: errorText) }

    func set(_ option: CURLoption, _ value: Int) {
        ccurl_set_long(pointer, option, value)
    }

    func set(_ option: CURLoption, _ value: Bool) {
        ccurl_set_long(pointer, option, value ? 1 : 0)
    }

    /// `nil` is libcurl's own value for none.
    func set(_ option: CURLoption, _ value: String?) {
        ccurl_set_string(pointer, option, value)
    }

    /// `bytes` must stay in place as long as the handle is used.
    func set(_ option: CURLoption, _ bytes: StableBytes) {
        ccurl_set_blob(pointer, option, bytes.start, bytes.count)
    }

    func set(_ option: CURLoption, _ pointer: UnsafeMutableRawPointer) {
        ccurl_set_pointer(self.pointer, option, pointer)
    }

    func long(_ info: CURLINFO) -> Int { ccurl_get_long(pointer, info) }

    /// A time since the transfer began.
    func time(_ info: CURLINFO) -> Duration { .microseconds(ccurl_get_size(pointer, info)) }

    /// The certificates that the server of a new connection showed, in PEM form.
    var certificates: [String] {
        guard let information = ccurl_get_certificates(pointer)?.pointee,
            information.num_of_certs > 0
        else { return [] }
        return (0..<Int(information.num_of_certs)).compactMap { index in
            var entry = information.certinfo[index]
            while let line = entry?.pointee {
                let text = String(cString: line.data)
                if text.hasPrefix("Cert:") { return String(text.dropFirst("Cert:".count)) }
                entry = line.next
            }
            return nil
        }
    }
}

/// Bytes that stay in place, so that libcurl need not copy them.
final class StableBytes: @unchecked Sendable {
    // Unchecked because of the pointer; what it points to never changes.

    let start: UnsafeRawPointer
    let count: Int

    init(_ text: String) {
        let bytes = Array(text.utf8)
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
        copy.initialize(from: bytes, count: bytes.count)
        start = UnsafeRawPointer(copy)
        count = bytes.count
    }

    deinit {
        start.deallocate()
    }
}

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
        var texts = configuration.additionalTrustRoots
        if !texts.isEmpty, Self.systemFolder == nil, let file = Self.systemFile,
            // A file that cannot be read has no roots to add.
            let system = try? String(contentsOfFile: file, encoding: .utf8)
        {
            texts.append(system)
        }
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
