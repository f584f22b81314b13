package import Foundation

/// What stored responses are found by. Several variants may share it (`Vary`).
package enum ResponseKey {
    /// The key of a request's response.
    ///
    /// - Parameters:
    ///   - resourceKey: given explicitly for the resource of the first hop. All URLs under it are
    ///     one resource.
    ///   - url: where the request goes.
    ///   - partition: keeps apart what has been loaded for different users.
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

    /// The URL with what its syntax alone makes equal written in one way (RFC 3986, section 6.2.2,
    /// and RFC 9110, section 4.2.3): scheme and host in lower case, digits of percent-encodings in
    /// upper case, no default port, no fragment, and `/` for an empty path.
    ///
    /// The order of query items and a slash at the end count.
    package static func normalized(_ url: URL) -> String {
        let text = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].starts(with: "://".utf8)
        else { return String(decoding: text, as: UTF8.self) }
        let scheme = String(decoding: text[..<colon], as: UTF8.self).lowercasedASCII
        let rest = text[colon...].dropFirst(3)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let path = end.map { rest[$0...] } ?? rest[rest.endIndex...]
        let needsSlash = path.first != UInt8(ascii: "/")
        return scheme + "://" + authority(rest[..<(end ?? rest.endIndex)], scheme: scheme)
            + (needsSlash ? "/" : "") + upperPercentDigits(path)
    }

    /// `user@HOST:80` as `user@host`.
    private static func authority(_ bytes: Substring.UTF8View, scheme: String) -> String {
        var host = bytes
        var user = ""
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
            user = upperPercentDigits(bytes[...at])
            host = bytes[bytes.index(after: at)...]
        }
        let defaultPort = ["http": ":80", "https": ":443"][scheme] ?? ":"
        for port in [defaultPort, ":"] where host.reversed().starts(with: port.utf8.reversed()) {
            host = host.dropLast(port.utf8.count)
            break
        }
        return user
            + upperPercentDigits(String(decoding: host, as: UTF8.self).lowercasedASCII[...].utf8)
    }

    private static func upperPercentDigits(_ bytes: Substring.UTF8View) -> String {
        var sincePercent = 3
        let upper = bytes.map { byte -> UInt8 in
            sincePercent = byte == UInt8(ascii: "%") ? 0 : min(3, sincePercent + 1)
            let isDigit = (1...2).contains(sincePercent)
            return isDigit && (0x61...0x66).contains(byte) ? byte & 0xDF : byte
        }
        return String(decoding: upper, as: UTF8.self)
    }
}
