package import Foundation
package import FoundationNetworking
import HalcyonWork

/// The signer of requests to a store in a region (AWS Signature Version 4, service `s3`).
///
/// The body is not signed. libcurl could sign, too, but covers all header fields, including those
/// that it leaves out or adds itself: stores refuse such requests.
package struct S3Signature: Hashable, Sendable {
    package let accessKey: String
    package let secretKey: String
    package let region: String
    private let sessionToken: String?

    package init(_ keys: S3Keys, region: String) {
        accessKey = keys.accessKey
        secretKey = keys.secretKey
        sessionToken = keys.sessionToken
        self.region = region
    }

    package struct DayKey: Hashable, Sendable {
        fileprivate let day: String
        fileprivate let secretKey: String
        fileprivate let region: String
        fileprivate let bytes: [UInt8]
    }

    /// Derives the key of a day, which is worth keeping: it takes four digests.
    ///
    /// - Parameter known: Returned if it is valid for the day.
    package func dayKey(at date: Date, known: DayKey? = nil) -> DayKey {
        let day = String(Self.text(date).prefix(8))
        if let known, known.day == day, known.secretKey == secretKey, known.region == region {
            return known
        }
        var bytes = Array("AWS4\(secretKey)".utf8)
        for part in [day, region, "s3", "aws4_request"] {
            bytes = Digest.sha256.authenticationCode(Array(part.utf8), key: bytes)
        }
        return DayKey(day: day, secretKey: secretKey, region: region, bytes: bytes)
    }

    /// Signs a request without a query: its method, host, path, and the fields whose names begin with `x-amz-`
    /// or are among `fields`, which are in lower case.
    package func sign(
        _ request: inout URLRequest, at date: Date, content: String = "UNSIGNED-PAYLOAD",
        fields: Set<String> = [], known: DayKey? = nil
    ) {
        let time = Self.text(date)
        let day = String(time.prefix(8))
        request.setValue(time, forHTTPHeaderField: "x-amz-date")
        request.setValue(content, forHTTPHeaderField: "x-amz-content-sha256")
        if let sessionToken {
            request.setValue(sessionToken, forHTTPHeaderField: "x-amz-security-token")
        }
        var signed = ["host": Self.host(of: request.url)]
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            let name = name.lowercased()
            if name.hasPrefix("x-amz-") || fields.contains(name) {
                signed[name] = value.trimmingCharacters(in: .whitespaces)
            }
        }
        let lines = signed.sorted { $0.key < $1.key }
        let names = lines.map(\.key).joined(separator: ";")
        let canonical = """
            \(request.httpMethod ?? "GET")
            \(Self.path(of: request.url))

            \(lines.map { "\($0.key):\($0.value)" }.joined(separator: "\n"))

            \(names)
            \(content)
            """
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Digest.sha256.hexadecimal(canonical))"
        let key = dayKey(at: date, known: known)
        let code = Digest.sha256.authenticationCode(Array(text.utf8), key: key.bytes)
        let signature = String(hexadecimal: code)
        request.setValue(
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), "
                + "Signature=\(signature)", forHTTPHeaderField: "Authorization")
    }

    /// The host as sent: without the scheme's default port.
    private static func host(of url: URL?) -> String {
        let host = url?.host ?? ""
        let name = host.contains(":") ? "[\(host)]" : host
        let usual = url?.scheme == "https" ? 443 : 80
        return url?.port.flatMap { $0 == usual ? nil : "\(name):\($0)" } ?? name
    }

    private static func path(of url: URL?) -> String {
        let path = escaped(path: url?.path(percentEncoded: true) ?? "")
        return path.isEmpty ? "/" : path
    }

    /// The path of a URL in the form to be signed, and so to be sent: all but letters, digits,
    /// `-._~` and slashes is escaped, in capitals.
    package static func escaped(path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            // A segment that cannot be decoded stays as it is.
            .map { segment in PercentEncoding.decode(segment).map(escaped(_:)) ?? String(segment) }
            .joined(separator: "/")
    }

    /// Escapes a text without escapes for a signed path.
    package static func escaped(_ text: String) -> String {
        PercentEncoding.encode(text, keeping: "/")
    }

    /// `20130524T000000Z`.
    private static func text(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + parts.tm_year)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z"
    }
}
