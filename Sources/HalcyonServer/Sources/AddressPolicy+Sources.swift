import HalcyonHTTP

extension AddressPolicy {
    /// Which addresses a server connects to that fetches what its clients name.
    ///
    /// Beyond what is not public in general, these are refused, whatever is allowed, unless they are named
    /// one by one: the addresses under which clouds tell their machines secrets; and ways through tunnels,
    /// whose inner address could be any.
    init(_ settings: ImageServerConfiguration.HTTPSources) {
        var allowed = settings.allowAddresses
        if settings.allowsPrivate { allowed += Self.privateNetworks }
        if settings.allowsLoopback { allowed += Self.networks("127.0.0.0/8", "::1/128") }
        if settings.allowsLinkLocal { allowed += Self.networks("169.254.0.0/16", "fe80::/10") }
        let metadata = Self.metadata.filter { !settings.allowAddresses.contains($0) }
        self.init(
            allowsPrivateNetworks: false, allowed: allowed,
            denied: settings.denyAddresses + metadata + Self.tunnels)
    }

    private static let privateNetworks = networks(
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10")

    private static let metadata = networks(
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16",
        "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254")

    /// 6to4 and Teredo.
    private static let tunnels = networks("2002::/16", "2001::/32")

    private static func networks(_ texts: String...) -> [IPNetwork] {
        texts.compactMap(IPNetwork.init)
    }
}
