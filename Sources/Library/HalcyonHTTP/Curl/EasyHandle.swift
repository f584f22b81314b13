import CHTTP
import Foundation
import FoundationNetworking
import HalcyonWork

/// A libcurl transfer, reused for later ones. Used on the thread of its loop alone.
struct EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>

    /// `nil` when there is no memory for it.
    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    }

    func free() {
        curl_easy_cleanup(pointer)
        errorText.deallocate()
    }

    func reset() {
        curl_easy_reset(pointer)
        errorText.pointee = 0
        ccurl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
    }

    /// libcurl's error message; empty when it has none.
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

    func time(_ info: CURLINFO) -> Duration { .microseconds(ccurl_get_size(pointer, info)) }

    /// The certificate chain of a new connection's server, in PEM form.
    var certificates: [String] {
        guard let information = ccurl_get_certificates(pointer, CURLINFO_CERTINFO)?.pointee,
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
    // Unchecked because of the pointer; its bytes never change.

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

/// The TLS trust and client certificate in libcurl's form.
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

    /// The system's root certificates, by libcurl's build settings.
    private static let systemFile = text(\.cainfo)
    private static let systemFolder = text(\.capath)

    private static func text(
        _ field: KeyPath<curl_version_info_data, UnsafePointer<CChar>?>
    ) -> String? {
        ccurl_version()?.pointee[keyPath: field].map { String(cString: $0) }
    }
}

struct OutgoingRequest: Sendable {
    let url: URL
    let host: String
    let method: String
    private let fields: HTTPFields
    private let body: Data?

    /// `request` with the header fields that every download has.
    /// - Throws: `TransportError`.
    init(_ request: URLRequest) throws {
        guard let url = request.url, HTTPURL.isDownloadable(url), let host = url.host,
            // The host decides about trust: both parsers have to read the same one.
            CurlURL.isHost(host, of: url.withoutUser)
        else {
            throw TransportError.unsupportedURL(request.url?.absoluteString ?? "")
        }
        self.url = url
        self.host = host
        method = request.httpMethod ?? "GET"
        body = request.httpBody
        func invalid(_ reason: String) -> TransportError {
            .invalidRequest(url: url.absoluteString, reason: reason)
        }
        guard !method.isEmpty,
            method.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") })
        else {
            throw invalid("its method is not made of the letters A to Z and hyphens")
        }
        var fields = HTTPFields()
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            // RFC 9110, section 5.6.2.
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
                throw invalid("\(name.debugDescription) is no field name")
            }
            guard !value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
                throw invalid("the field \(name) has a line break in it")
            }
            // The length of the body follows from the body.
            guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
                continue
            }
            fields.append(name, value)
        }
        if !fields.contains("Accept") { fields.append("Accept", "image/*,*/*;q=0.8") }
        if !fields.contains("User-Agent") { fields.append("User-Agent", "Halcyon") }
        // Only supported codings may be offered.
        if !fields.values("Accept-Encoding").contains("identity") {
            fields.set("Accept-Encoding", to: ContentCoding.offered)
        }
        self.fields = fields
    }

    /// Whether the request may safely be sent twice (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE"].contains(method) }

    /// Sets the options of `handle` that describe the request.
    /// - Returns: The header fields, to be freed when the transfer has ended.
    func apply(to handle: EasyHandle) -> UnsafeMutablePointer<curl_slist>? {
        handle.set(CURLOPT_URL, url.withoutUser)
        handle.set(CURLOPT_PATH_AS_IS, true)
        // libcurl would refuse unknown codings; bodies are decoded here.
        handle.set(CURLOPT_HTTP_CONTENT_DECODING, false)
        let body = body ?? (method == "POST" || method == "PUT" ? Data() : nil)
        if let body {
            handle.set(CURLOPT_POSTFIELDSIZE, body.count)
            body.withUnsafeBytes { bytes in
                // A null address would mean no body, not an empty one.
                if let start = bytes.baseAddress {
                    handle.set(CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
                } else {
                    handle.set(CURLOPT_COPYPOSTFIELDS, "")
                }
            }
        }
        if method == "HEAD" { handle.set(CURLOPT_NOBODY, true) }
        if method != "GET" || body != nil { handle.set(CURLOPT_CUSTOMREQUEST, method) }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in fields.lines {
            // A field without a value is written with a semicolon in libcurl's list.
            list = curl_slist_append(
                list, line.value.isEmpty ? "\(line.name);" : "\(line.name): \(line.value)")
        }
        // Fields that libcurl would add to a body by itself.
        for name in ["Content-Type", "Expect"] where body != nil && !fields.contains(name) {
            list = curl_slist_append(list, "\(name):")
        }
        ccurl_set_list(handle.pointer, CURLOPT_HTTPHEADER, list)
        return list
    }
}

extension URL {
    /// The text without user and password, which are sent only when a server asks for them.
    fileprivate var withoutUser: String {
        guard user != nil || password != nil,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return absoluteString }
        components.user = nil
        components.password = nil
        return components.string ?? absoluteString
    }
}

private enum CurlURL {
    /// Whether the host of `text` is `host`, which may be another spelling of an IPv6 address.
    static func isHost(_ host: String, of text: String) -> Bool {
        guard let found = self.host(of: text) else { return false }
        if found == host.lowercased() { return true }
        return IPAddress(found) != nil && host.contains(":") && IPAddress(found) == IPAddress(host)
    }

    /// The host in lower case, without the brackets of an address; `nil` for an invalid URL.
    private static func host(of text: String) -> String? {
        guard let url = curl_url() else { return nil }
        defer { curl_url_cleanup(url) }
        var host: UnsafeMutablePointer<CChar>?
        defer { curl_free(host) }
        guard curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK,
            curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host
        else { return nil }
        return String(cString: host).lowercased().trimmingCharacters(in: ["[", "]"])
    }
}
