import HalcyonWork

/// The scheme and host that a client has used: what absolute URIs in documents begin with.
package enum PublicAddress {
    /// `scheme://host`, without a slash at the end.
    ///
    /// - Parameters:
    ///   - configured: The address that the operator has set; goes before everything.
    ///   - forwarded: Of a trusted proxy; `nil` when the peer is none.
    ///   - host: All values of the header field `Host`.
    /// - Throws: `bad_request` when there is no host, or one that cannot be.
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

    /// Whether a field `Host` names a host, perhaps with a port (RFC 9110, section 7.2).
    package static func isAuthority(_ text: String) -> Bool {
        let text = text.trimmingSpaces
        // In brackets there is nothing but an address.
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

    /// What proxies say about the request that they got.
    package struct Forwarded: Sendable, Hashable {
        /// `http` or `https`.
        package let scheme: String?
        package let host: String?

        /// - Parameter values: All values of a header field. Of several proxies the last one counts, which is
        ///   the nearest to the server: what stands before its words may be the client's own. When there are
        ///   both `Forwarded` (RFC 7239) and `X-Forwarded-…`, nobody knows whose are whose, and none counts.
        package init(values: (_ fieldName: String) -> [String]) {
            guard !Self.isMixed(values) else {
                scheme = nil
                host = nil
                return
            }
            var pairs: [String: String] = [:]
            let nearest = values("Forwarded").flatMap { FieldMembers.members(of: $0) }.last
            for pair in FieldMembers.parts(of: nearest ?? "", at: UInt8(ascii: ";")) {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { continue }
                let value = parts[1].trimmingSpaces.filter { $0 != "\"" }
                pairs[parts[0].trimmingSpaces.lowercased()] = value
            }
            func member(_ name: String) -> String? {
                values(name).flatMap { FieldMembers.members(of: $0) }.last
            }
            let scheme = (pairs["proto"] ?? member("X-Forwarded-Proto"))?.lowercased()
            self.scheme = scheme == "http" || scheme == "https" ? scheme : nil
            host = pairs["host"] ?? member("X-Forwarded-Host")
        }

        private static func isMixed(_ values: (_ fieldName: String) -> [String]) -> Bool {
            !values("Forwarded").isEmpty
                && ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"]
                    .contains { !values($0).isEmpty }
        }

        /// The addresses that a request has come through, the client's first, without ports; `nil` in the
        /// place of what is no address. `Forwarded` goes before `X-Forwarded-For`.
        ///
        /// - Parameter values: All values of a header field.
        package static func clients(values: (_ fieldName: String) -> [String]) -> [String?] {
            guard !isMixed(values) else { return [] }
            let forwarded = values("Forwarded").flatMap { FieldMembers.members(of: $0) }
            guard forwarded.isEmpty else {
                return forwarded.map { member in
                    let pairs = FieldMembers.parts(of: member, at: UInt8(ascii: ";"))
                    for pair in pairs {
                        let parts = pair.split(separator: "=", maxSplits: 1)
                        guard parts.count == 2,
                            parts[0].trimmingSpaces.lowercased() == "for"
                        else { continue }
                        return address(parts[1].trimmingSpaces.filter { $0 != "\"" })
                    }
                    return nil
                }
            }
            return values("X-Forwarded-For").flatMap { FieldMembers.members(of: $0) }
                .map { address($0.trimmingSpaces.filter { $0 != "\"" }) }
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
