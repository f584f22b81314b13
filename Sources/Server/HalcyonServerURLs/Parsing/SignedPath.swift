import HalcyonWork

/// The target of a request, split into a signature and the signed path.
public struct SignedPath: Sendable, Hashable {
    /// The signature as it stands in the target.
    public let signature: String
    /// The signed path, which ``PlanParser`` reads; begins with a slash.
    public let path: String

    /// - Parameters:
    ///   - target: The path of the request as it was sent, below the prefix of the routes, still
    ///     percent-encoded; the query is ignored.
    /// - Throws: `bad_request` for forbidden characters, `invalid_path` if a part is missing.
    public init(target: String) throws(PlanError) {
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw PlanError(.badRequest, "The URL has characters that have to be percent-encoded.")
        }
        let slash = UInt8(ascii: "/")
        var rest = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        if rest.first == slash { rest = rest.dropFirst() }
        let signature = rest.prefix { $0 != slash }
        let path = rest[signature.endIndex...].dropFirst()
        guard !signature.isEmpty, !path.isEmpty else {
            throw PlanError(
                .invalidPath, "The path has to be /SIGNATURE/OPTIONS/SOURCE; a part is missing.")
        }
        self.signature = String(Substring(signature))
        self.path = "/" + Self.repaired(String(Substring(path)))
    }

    /// Reverses changes by proxies: `:` written as `%3A` in options, and double slashes of a plain
    /// source merged into one.
    static func repaired(_ path: String) -> String {
        guard let (options, source) = splitAtPlain(path) else { return withColons(path) }
        return withColons(options) + repairedSource(source)
    }

    /// Splits the path after `plain/`; `nil` without it.
    private static func splitAtPlain(_ path: String) -> (String, String)? {
        var rest = path.utf8[...]
        while !rest.isEmpty {
            if rest.starts(with: "plain/".utf8) {
                let source = rest.dropFirst("plain/".utf8.count)
                return (
                    String(Substring(path.utf8[..<source.startIndex])), String(Substring(source))
                )
            }
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { break }
            rest = rest[slash...].dropFirst()
        }
        return nil
    }

    private static func withColons(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let next = rest.prefix(2)
            if byte == UInt8(ascii: "%"),
                next.elementsEqual("3A".utf8) || next.elementsEqual("3a".utf8)
            {
                bytes.append(UInt8(ascii: ":"))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Restores `http://host` from `http:/host`, and `local:///path` from `local:/path`.
    private static func repairedSource(_ source: String) -> String {
        let scheme = source.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = source.utf8[scheme.endIndex...]
        guard rest.starts(with: ":/".utf8), rest.dropFirst(2).first != UInt8(ascii: "/"),
            let first = scheme.first, first.isLetter,
            scheme.allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) })
        else { return source }
        let slashes = scheme.elementsEqual("local".utf8) ? "///" : "//"
        return String(Substring(scheme)) + ":" + slashes + String(Substring(rest.dropFirst(2)))
    }
}
