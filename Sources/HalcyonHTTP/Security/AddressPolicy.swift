/// Which networks may be reached by downloads.
///
/// A server that downloads what its users name has to keep them out of its own network. Host names
/// cannot decide this, since any name may have any address; so each address is checked before it is
/// connected to, also for redirects and alternative sources:
///
/// ```swift
/// downloader.addressPolicy = .publicOnly
/// ```
///
/// An IPv6 address that stands for an IPv4 address (IPv4-mapped, NAT64, 6to4) is allowed when both
/// are.
public struct AddressPolicy: Hashable, Sendable {
    /// Whether addresses outside the public Internet are allowed where neither list names them.
    public var allowsPrivateNetworks: Bool
    /// Allowed in any case, unless they are also denied.
    public var allowed: [IPNetwork]
    /// Never allowed.
    public var denied: [IPNetwork]

    public init(
        allowsPrivateNetworks: Bool, allowed: [IPNetwork] = [], denied: [IPNetwork] = []
    ) {
        self.allowsPrivateNetworks = allowsPrivateNetworks
        self.allowed = allowed
        self.denied = denied
    }

    /// Everything may be reached.
    public static let unrestricted = AddressPolicy(allowsPrivateNetworks: true)

    /// Only the public Internet may be reached: not this machine, no private or link-local network, no
    /// carrier's inner one, and nothing that is reserved, for documentation or for many at once.
    public static let publicOnly = AddressPolicy(allowsPrivateNetworks: false)

    /// Whether there is anything that may not be reached.
    var isRestricted: Bool { !allowsPrivateNetworks || !denied.isEmpty }

    /// Whether `address` may be connected to.
    public func allows(_ address: IPAddress) -> Bool {
        let forms = [address] + (address.embedded.map { [$0] } ?? [])
        func names(_ networks: [IPNetwork], _ form: IPAddress) -> Bool {
            networks.contains { $0.contains(form) }
        }
        if forms.contains(where: { names(denied, $0) }) { return false }
        if allowsPrivateNetworks || forms.contains(where: { names(allowed, $0) }) { return true }
        return forms.allSatisfy(Self.isPublic)
    }

    private static func isPublic(_ address: IPAddress) -> Bool {
        if address.bytes.count == 4 { return !reserved.contains { $0.contains(address) } }
        // What carries a public address is as public as that.
        if address.embedded != nil { return true }
        return globalUnicast.contains { $0.contains(address) }
            && !reserved.contains { $0.contains(address) }
    }

    private static let globalUnicast = networks("2000::/3")

    /// From IANA's registries of special-purpose addresses.
    private static let reserved = networks(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "2001::/23", "2001:db8::/32", "3fff::/20")

    private static func networks(_ texts: String...) -> [IPNetwork] {
        texts.compactMap(IPNetwork.init)
    }
}
