import Foundation
import HalcyonWork

/// The networks that downloads may reach.
///
/// A server that downloads URLs named by its users has to keep them out of its own network. Host
/// names cannot decide this, since any name may have any address; so each address is checked before
/// connecting, also for redirects and alternative sources:
///
/// ```swift
/// downloader.addressPolicy = .publicOnly
/// ```
///
/// An IPv6 address that stands for an IPv4 address (IPv4-mapped, NAT64, 6to4) is allowed when both
/// are. ``publicInternet(and:allowed:denied:)`` is stricter, for servers: it allows no tunnels, and says
/// which kinds of addresses are allowed one by one.
public struct AddressPolicy: Hashable, Sendable {
    /// Whether addresses outside the public Internet are allowed where neither list names them.
    public var allowsPrivateNetworks: Bool
    /// Allowed in any case, unless they are also denied.
    public var allowed: [IPNetwork]
    /// Never allowed.
    public var denied: [IPNetwork]
    /// The kinds that are allowed beside public addresses; `nil`: what `allowsPrivateNetworks` says.
    private var kinds: Set<AddressKind>?

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

    /// Public addresses and those of the given kinds may be reached.
    ///
    /// - Parameters:
    ///   - kinds: `.metadata` has no effect: such an address is reached only when `allowed` has
    ///     that very address.
    ///   - allowed: Addresses of other kinds that may be reached.
    ///   - denied: Takes precedence over everything else.
    public static func publicInternet(
        and kinds: Set<AddressKind> = [], allowed: [IPNetwork] = [], denied: [IPNetwork] = []
    ) -> AddressPolicy {
        var policy = AddressPolicy(allowsPrivateNetworks: false, allowed: allowed, denied: denied)
        policy.kinds = kinds
        return policy
    }

    var isRestricted: Bool { kinds != nil || !allowsPrivateNetworks || !denied.isEmpty }

    /// Whether `address` may be connected to.
    public func allows(_ address: IPAddress) -> Bool {
        let forms = [address] + (address.embedded.map { [$0] } ?? [])
        if forms.contains(where: denied.cover) { return false }
        if let kinds, !allowsPrivateNetworks { return allows(address, of: kinds) }
        if allowsPrivateNetworks || forms.contains(where: allowed.cover) { return true }
        // A wrapper of a public address is as public as that address.
        return forms.allSatisfy { $0.embedded != nil || AddressKind.isGlobal($0) }
    }

    /// Whether a list names `address`, or its kind may be reached. It is not denied.
    private func allows(_ address: IPAddress, of kinds: Set<AddressKind>) -> Bool {
        let forms = [address] + (AddressKind.wrapped(in: address).map { [$0] } ?? [])
        if forms.count > 1, denied.cover(forms[1]) { return false }
        let named = allowed.filter { network in forms.contains { network.contains($0) } }
        let kind = AddressKind(address)
        if kind == .metadata { return named.contains(where: \.isSingleAddress) }
        return !named.isEmpty || kind == .public || kinds.contains(kind)
    }
}

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable, LosslessStringConvertible {
    /// 4 or 16 bytes, the most significant first.
    let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `nil` unless `text` is an address in numbers, such as `192.0.2.1` or `2001:db8::1`.
    public init?(_ text: String) {
        // C would end the text there.
        guard !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: four, Array.init)
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six, Array.init)
        } else {
            return nil
        }
    }

    /// The address of an open or requested connection; `nil` for other protocols.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr, Array.init)
            }
        case AF_INET6:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr, Array.init)
            }
        default:
            return nil
        }
    }

    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The IPv4 address that an IPv6 address leads to: embedded in it, or behind a translator
    /// (RFC 4291, 6052, 3056).
    var embedded: IPAddress? {
        guard bytes.count == 16 else { return nil }
        if Self.carriers.cover(self) { return IPAddress(bytes: Array(bytes[12...])) }
        return Self.sixToFour.cover(self) ? IPAddress(bytes: Array(bytes[2..<6])) : nil
    }

    /// IPv4-mapped, IPv4-compatible and NAT64: the last four bytes.
    private static let carriers = IPNetwork.list("::ffff:0:0/96", "::/96", "64:ff9b::/96")
    private static let sixToFour = IPNetwork.list("2002::/16")
}

/// Addresses that begin with the same bits.
public struct IPNetwork: Hashable, Sendable, LosslessStringConvertible {
    private let first: IPAddress
    private let length: Int

    /// `nil` unless `text` is an address, or one with the number of bits that count: `10.0.0.0/8`,
    /// `fd00::/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let all = address.bytes.count * 8
        // `Int` reads a sign too, which a length must not have.
        guard let length = parts.count == 2 ? Int(parts[1]) : all, (0...all).contains(length),
            parts.count == 1 || parts[1].utf8.allSatisfy(\.isDigit)
        else { return nil }
        first = address
        self.length = length
    }

    /// The network of `first` whose addresses have `length` bits in common.
    package init(_ first: IPAddress, length: Int) {
        self.first = first
        self.length = length
    }

    static func list(_ texts: String...) -> [IPNetwork] { texts.compactMap(IPNetwork.init) }

    public var description: String { "\(first)/\(length)" }

    var isSingleAddress: Bool { length == first.bytes.count * 8 }

    /// Whether `address` is in the network; the IP versions must match.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        return (0..<length).allSatisfy { bit in
            (address.bytes[bit / 8] ^ first.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }
}

extension [IPNetwork] {
    func cover(_ address: IPAddress) -> Bool { contains { $0.contains(address) } }
}
