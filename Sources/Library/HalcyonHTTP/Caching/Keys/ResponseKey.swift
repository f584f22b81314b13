package import Foundation
import HalcyonWork

/// The lookup key of stored responses. Several variants may share it (`Vary`).
package enum ResponseKey {
    /// The key of a request's response.
    ///
    /// - Parameters:
    ///   - resourceKey: the explicit key of the first hop's resource. All URLs under it are one
    ///     resource.
    ///   - url: the request's URL.
    ///   - partition: separates the responses of different users.
    package static func key(
        resourceKey: String? = nil, url: URL, normalizer: CacheKeyNormalizer? = nil,
        partition: String? = nil
    ) -> String {
        let primary = resourceKey ?? normalizer?.key(for: url) ?? normalized(url)
        guard let partition else { return primary }
        // A line break of the partition's own must not end it.
        let line = partition.replacingOccurrences(of: "%", with: "%25")
            .replacingOccurrences(of: "\n", with: "%0A")
        return line + "\n" + primary
    }

    /// The URL in its normal form, by syntax alone (RFC 3986, section 6.2.2, and RFC 9110, section
    /// 4.2.3): scheme and host in lower case, percent-encodings only where they are needed and with
    /// their digits in upper case, no `.` and `..` as segments, no default port, no fragment, and `/`
    /// for an empty path.
    ///
    /// The order of query items and a slash at the end are significant.
    package static func normalized(_ url: URL) -> String {
        let text = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].starts(with: "://".utf8)
        else { return String(decoding: text, as: UTF8.self) }
        let scheme = String(decoding: text[..<colon], as: UTF8.self).lowercasedASCII
        let rest = text[colon...].dropFirst(3)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let target = rest[(end ?? rest.endIndex)...]
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        return scheme + "://" + authority(rest[..<target.startIndex], scheme: scheme)
            + (path.isEmpty
                ? "/" : URLSpelling.withoutDotSegments(URLSpelling.unescaped(path)))
            + URLSpelling.unescaped(target[path.endIndex...])
    }

    /// `user@HOST:80` as `user@host`.
    private static func authority(_ bytes: Substring.UTF8View, scheme: String) -> String {
        var host = bytes
        var user = ""
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
            user = URLSpelling.unescaped(bytes[...at])
            host = bytes[bytes.index(after: at)...]
        }
        let defaultPort = ["http": ":80", "https": ":443"][scheme] ?? ":"
        for port in [defaultPort, ":"] where host.reversed().starts(with: port.utf8.reversed()) {
            host = host.dropLast(port.utf8.count)
            break
        }
        // Letters that were encoded are lowered, too, and the digits of encodings raised again.
        let name = URLSpelling.unescaped(host).lowercasedASCII
        return user + URLSpelling.unescaped(name[...].utf8)
    }
}

/// The request fields that a response was chosen by (RFC 9110, section 12.5.5).
package enum VaryKey {
    /// The largest number of names; responses with more are not stored.
    static let nameLimit = 32

    /// The names in all `Vary` lines: in lower case, sorted, each once.
    package static func names(in fields: HTTPFields) -> [String] {
        Set(fields.members("Vary").map(\.lowercasedASCII)).sorted()
    }

    /// The values of these names in a request, in an unambiguous form: each text is preceded by its
    /// length, and an absent field differs from an empty one.
    static func canonical(_ names: [String], of request: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names {
            append(name, to: &bytes)
            let value = value(of: name, in: request)
            bytes.append(value == nil ? 0 : 1)
            append(value ?? "", to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text.utf8)
    }

    /// The value of a field for comparison: lines are combined, and spaces around commas are
    /// removed. In negotiation fields order, case and a quality of 1 are ignored too.
    private static func value(of name: String, in request: HTTPFields) -> String? {
        guard request.contains(name) else { return nil }
        let members = request.members(name)
        guard negotiating.contains(name) else { return members.joined(separator: ",") }
        return members.map(normalized).sorted().joined(separator: ",")
    }

    private static let negotiating: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language",
    ]

    /// `DE ; q = 1.0` as `de`.
    private static func normalized(_ member: String) -> String {
        member.lowercasedASCII.utf8.split(separator: UInt8(ascii: ";"))
            .map { parameter in
                parameter.split(separator: .equals, omittingEmptySubsequences: false)
                    .map { String(decoding: $0, as: UTF8.self).trimmingFieldSpaces }
                    .joined(separator: "=")
            }
            .filter { !isFullQuality($0) }
            .joined(separator: ";")
    }

    /// `q=1`, `q=1.`, `q=1.000`
    private static func isFullQuality(_ parameter: String) -> Bool {
        guard parameter.utf8.starts(with: "q=1".utf8) else { return false }
        let rest = parameter.utf8.dropFirst(3)
        return rest.isEmpty
            || rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy { $0 == 0x30 }
    }
}
