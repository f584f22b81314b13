package import Foundation
package import FoundationNetworking
import HalcyonWork

/// Who signs requests to a store, and where that is (AWS Signature Version 4, service `s3`).
///
/// The body is not signed. libcurl could sign, too, but covers all header fields, also those that it leaves
/// out or adds itself: stores refuse such requests.
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

    /// Signs a request without a query: its method, host, path, and the fields whose names begin with `x-amz-`
    /// or are among `fields`, which are in lower case.
    package func sign(
        _ request: inout URLRequest, at date: Date, content: String = "UNSIGNED-PAYLOAD",
        fields: Set<String> = []
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
        var key = Array("AWS4\(secretKey)".utf8)
        for part in [day, region, "s3", "aws4_request"] {
            key = Digest.sha256.authenticationCode(Array(part.utf8), key: key)
        }
        let code = Digest.sha256.authenticationCode(Array(text.utf8), key: key)
        let signature = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        request.setValue(
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), "
                + "Signature=\(signature)", forHTTPHeaderField: "Authorization")
    }

    /// As it is sent: without the port that belongs to the scheme.
    private static func host(of url: URL?) -> String {
        let host = url?.host ?? ""
        let name = host.contains(":") ? "[\(host)]" : host
        let usual = url?.scheme == "https" ? 443 : 80
        return url?.port.flatMap { $0 == usual ? nil : "\(name):\($0)" } ?? name
    }

    private static func path(of url: URL?) -> String {
        let path = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        return path.flatMap { $0.percentEncodedPath.isEmpty ? nil : $0.percentEncodedPath } ?? "/"
    }

    /// `20130524T000000Z`.
    private static func text(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: date)
        func digits(_ part: Int?, _ count: Int) -> String {
            let text = "\(part ?? 0)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2) + "T"
            + digits(parts.hour, 2) + digits(parts.minute, 2) + digits(parts.second, 2) + "Z"
    }
}
