import HalcyonWork

/// The scheme and host used by the client: the beginning of absolute URIs in documents.
package enum PublicAddress {
    /// `scheme://host`, without a slash at the end.
    ///
    /// - Parameters:
    ///   - configured: The operator's setting; takes precedence over everything else.
    ///   - forwarded: Of a trusted proxy; `nil` when the peer is not one.
    ///   - host: All values of the header field `Host`.
    /// - Throws: `bad_request` when the host is missing or invalid.
    package static func base(
        configured: String?, forwarded: Forwarded? = nil, isSecure: Bool = false, host: [String]
    ) throws(PlanError) -> String {
        if let configured {
            return configured.hasSuffix("/") ? String(configured.dropLast()) : configured
        }
        let scheme = forwarded?.scheme ?? (isSecure ? "https" : "http")
        let name = forwarded?.host ?? (host.count == 1 ? host[0] : "")
        let isHost = name.utf8.allSatisfy { $0.isDigit || $0.isLetter || ".-:[]".utf8.contains($0) }
        guard isHost, !name.isEmpty else {
            throw PlanError(.badRequest, "The header field Host is missing, or is no host.")
        }
        return "\(scheme)://\(name)"
    }

    /// Whether the value of a field `Host` is valid, perhaps with a port (RFC 9110, section 7.2).
    package static func isAuthority(_ text: String) -> Bool {
        let text = text.trimmingSpaces
        // Brackets may enclose an address only.
        if text.utf8.first == UInt8(ascii: "[") {
            return SourceURL.hostAndPort(Substring(text)) != nil
        }
        var host = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let port = text.utf8[host.endIndex...].dropFirst()
        guard !host.isEmpty, port.isEmpty || port.allSatisfy(\.isDigit),
            port.isEmpty || UInt16(String(Substring(port))) != nil
        else { return false }
        while let byte = host.popFirst() {
            if byte == UInt8(ascii: "%") {
                let digits = host.prefix(2)
                guard digits.count == 2,
                    digits.allSatisfy({ UInt8(hexadecimalDigit: $0) != nil })
                else { return false }
                host = host.dropFirst(2)
            } else if !byte.isUnreserved, !"!$&'()*+,;=".utf8.contains(byte) {
                return false
            }
        }
        return true
    }

    package struct Forwarded: Sendable, Hashable {
        /// `http` or `https`.
        package let scheme: String?
        package let host: String?

        /// - Parameter values: All values of a header field. Of several proxies the last one
        ///   counts, which is the nearest to the server: earlier values may come from the client.
        ///   When both `Forwarded` (RFC 7239) and `X-Forwarded-…` are present, their origin is
        ///   unknown, and neither counts.
        package init(values: (_ fieldName: String) -> [String]) {
            guard !Self.isMixed(values) else {
                scheme = nil
                host = nil
                return
            }
            func nearest(_ name: String) -> String? {
                FieldMembers.members(of: values(name)).last
            }
            let parameters = FieldMembers.parameters(of: nearest("Forwarded") ?? "")
            func parameter(_ name: String) -> String? {
                parameters.last { $0.name == name }?.value
            }
            let scheme = (parameter("proto") ?? nearest("X-Forwarded-Proto"))?.lowercased()
            self.scheme = scheme == "http" || scheme == "https" ? scheme : nil
            host = parameter("host") ?? nearest("X-Forwarded-Host")
        }

        private static func isMixed(_ values: (_ fieldName: String) -> [String]) -> Bool {
            !values("Forwarded").isEmpty
                && ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"]
                    .contains { !values($0).isEmpty }
        }

        /// The addresses of the client and of the proxies, in this order, without ports; `nil` in
        /// place of an invalid address. `Forwarded` takes precedence over `X-Forwarded-For`.
        ///
        /// - Parameter values: All values of a header field.
        package static func clients(values: (_ fieldName: String) -> [String]) -> [String?] {
            guard !isMixed(values) else { return [] }
            let forwarded = FieldMembers.members(of: values("Forwarded"))
            guard forwarded.isEmpty else {
                return forwarded.map { member in
                    FieldMembers.parameters(of: member).first { $0.name == "for" }
                        .flatMap { address($0.value) }
                }
            }
            return FieldMembers.members(of: values("X-Forwarded-For"))
                .map { address($0.filter { $0 != "\"" }) }
        }

        /// `192.0.2.1:80` and `[2001:db8::1]:80` without their ports and brackets.
        private static func address(_ text: String) -> String? {
            if text.hasPrefix("[") {
                return text.dropFirst().split(separator: "]").first.map(String.init)
            }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let address = parts.count == 2 ? String(parts[0]) : text
            return address.isEmpty ? nil : address
        }
    }
}
