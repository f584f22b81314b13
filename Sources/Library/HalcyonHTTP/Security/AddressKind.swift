/// The purpose of an address, by the registries of special-purpose addresses (RFC 6890 and later).
public enum AddressKind: String, Sendable, Hashable, CaseIterable {
    /// A global address of the public Internet.
    case `public`
    /// The unspecified address, such as `0.0.0.0` or `::`.
    case unspecified
    /// A loopback address of this machine.
    case loopback
    /// A link-local address, valid on one link only.
    case linkLocal
    /// A private address, inside an organisation's network.
    case `private`
    /// A shared address of a carrier's inner network.
    case shared
    /// The address of a cloud's metadata service, which hands out credentials.
    case metadata
    case multicast
    /// An address reserved for documentation, tests or future use.
    case reserved
    /// An IPv6 address that leads to an IPv4 address elsewhere: 6to4, Teredo, ISATAP.
    case tunnel
}

extension AddressKind {
    /// The kind of `address`. An address that only wraps an IPv4 address (mapped, translated,
    /// NAT64) has the kind of that address.
    public init(_ address: IPAddress) {
        if Self.metadataAddresses.cover(address) {
            self = .metadata
        } else if address.bytes.count == 4 {
            self = Self.fourKinds.first { $0.networks.cover(address) }?.kind ?? .public
        } else if let inner = Self.wrapped(in: address) {
            self.init(inner)
        } else if let kind = Self.sixKinds.first(where: { $0.networks.cover(address) })?.kind {
            self = kind
        } else if Self.isISATAP(address) {
            self = .tunnel
        } else {
            self = Self.isGlobal(address) ? .public : .reserved
        }
    }

    /// Whether `address` is public by the registries alone, which know neither wrappers, nor ISATAP,
    /// nor metadata services.
    static func isGlobal(_ address: IPAddress) -> Bool {
        address.bytes.count == 4
            ? !fourKinds.contains { $0.networks.cover(address) }
            : globalUnicast.cover(address) && !reservedGlobal.cover(address)
    }

    /// The IPv4 address that an IPv6 address only wraps.
    static func wrapped(in address: IPAddress) -> IPAddress? {
        wrappers.cover(address) ? IPAddress(bytes: Array(address.bytes[12...])) : nil
    }

    /// The last half begins with a mark, whatever the first half is (RFC 5214, section 6.1).
    private static func isISATAP(_ address: IPAddress) -> Bool {
        let mark = address.bytes[8..<12]
        return mark.elementsEqual([0x00, 0x00, 0x5E, 0xFE])
            || mark.elementsEqual([0x02, 0x00, 0x5E, 0xFE])
    }

    private typealias Entry = (kind: AddressKind, networks: [IPNetwork])

    private static let metadataAddresses = IPNetwork.list(
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16",
        "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254")

    private static let fourKinds: [Entry] = [
        (.unspecified, IPNetwork.list("0.0.0.0/8")),
        (.loopback, IPNetwork.list("127.0.0.0/8")),
        (.linkLocal, IPNetwork.list("169.254.0.0/16")),
        (.private, IPNetwork.list("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
        (.shared, IPNetwork.list("100.64.0.0/10")),
        (.multicast, IPNetwork.list("224.0.0.0/4")),
        (
            .reserved,
            IPNetwork.list(
                "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
                "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4")
        ),
    ]

    /// IPv4-mapped, IPv4-translated and NAT64: the last four bytes are the address.
    private static let wrappers = IPNetwork.list("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")

    private static let sixKinds: [Entry] = [
        (.loopback, IPNetwork.list("::1")),
        (.unspecified, IPNetwork.list("::")),
        (.linkLocal, IPNetwork.list("fe80::/10")),
        (.private, IPNetwork.list("fc00::/7", "fec0::/10")),
        (.multicast, IPNetwork.list("ff00::/8")),
        (.tunnel, IPNetwork.list("::/96", "2002::/16", "2001::/32")),
    ]

    private static let globalUnicast = IPNetwork.list("2000::/3")
    private static let reservedGlobal = IPNetwork.list("2001::/23", "2001:db8::/32", "3fff::/20")
}
