import CHTTP
import Foundation
import FoundationNetworking

/// A request as libcurl sends it.
struct OutgoingRequest: Sendable {
    let url: URL
    let host: String
    let method: String
    private let fields: [(name: String, value: String)]
    private let body: Data?

    /// `request` with the header fields that every download has.
    /// - Throws: `TransportError`.
    init(_ request: URLRequest) throws {
        guard let url = request.url, HTTPURL.isDownloadable(url), let host = url.host,
            // Whom to trust is decided by the host: both have to read the same one.
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
        var fields: [(name: String, value: String)] = []
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard Self.isToken(name) else {
                throw invalid("\(name.debugDescription) is no field name")
            }
            guard !value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
                throw invalid("the field \(name) has a line break in it")
            }
            // The length of the body follows from the body.
            guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
                continue
            }
            fields.append((name, value))
        }
        func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }
        if !has("accept") { fields.append(("Accept", "image/*,*/*;q=0.8")) }
        if !has("user-agent") { fields.append(("User-Agent", "Halcyon")) }
        // Only what is decoded here may be offered.
        if !fields.contains(where: {
            $0.name.lowercased() == "accept-encoding" && $0.value == "identity"
        }) {
            fields.removeAll { $0.name.lowercased() == "accept-encoding" }
            fields.append(("Accept-Encoding", ContentCoding.offered))
        }
        self.fields = fields
    }

    /// Whether it does no harm to send the request twice (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE"].contains(method) }

    /// Sets the options of `handle` that say what is sent.
    /// - Returns: The header fields, to be freed when the transfer has ended.
    func apply(to handle: EasyHandle) -> UnsafeMutablePointer<curl_slist>? {
        handle.set(CURLOPT_URL, url.withoutUser)
        handle.set(CURLOPT_PATH_AS_IS, true)
        // libcurl would refuse bodies whose coding it does not know; they are unpacked here.
        handle.set(CURLOPT_HTTP_CONTENT_DECODING, false)
        let body = body ?? (method == "POST" || method == "PUT" ? Data() : nil)
        if let body {
            ccurl_set_size(handle.pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                // Without any address there would be no body, not an empty one.
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
        for (name, value) in fields {
            // A field without a value is written with a semicolon in libcurl's list.
            list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // What libcurl would add to a body by itself.
        for name in ["Content-Type", "Expect"]
        where body != nil && !fields.contains(where: { $0.name.lowercased() == name.lowercased() })
        {
            list = curl_slist_append(list, "\(name):")
        }
        ccurl_set_list(handle.pointer, CURLOPT_HTTPHEADER, list)
        return list
    }

    /// Whether `name` is made of the characters that names of fields have (RFC 9110, section 5.6.2).
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
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

/// How libcurl reads URLs.
private enum CurlURL {
    /// Whether the host of `text` is `host`, which may be a differently written address of version 6.
    static func isHost(_ host: String, of text: String) -> Bool {
        guard let found = self.host(of: text) else { return false }
        if found == host.lowercased() { return true }
        return IPAddress(found) != nil && host.contains(":") && IPAddress(found) == IPAddress(host)
    }

    /// The host in lower case, without the brackets of an address; `nil` for what is no URL.
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
