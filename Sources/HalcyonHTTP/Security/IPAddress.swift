import Foundation

/// An address of version 4 or 6 of the Internet protocol.
public struct IPAddress: Hashable, Sendable, LosslessStringConvertible {
    /// 4 or 16 bytes, the most significant first.
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `nil` unless `text` is an address in numbers, such as `192.0.2.1` or `2001:db8::1`.
    public init?(_ text: String) {
        // C would see the text up to there only.
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

    /// The address of an open or wanted connection; `nil` for those of other protocols.
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

    /// The address of version 4 that one of version 6 leads to: written in that form, or behind a
    /// translator (RFC 4291, 6052, 3056).
    var embedded: IPAddress? {
        guard bytes.count == 16 else { return nil }
        for network in Self.carriers where network.contains(self) {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        if Self.sixToFour.contains(self) { return IPAddress(bytes: Array(bytes[2..<6])) }
        return nil
    }

    /// IPv4-mapped, IPv4-compatible and NAT64: the last four bytes.
    private static let carriers = ["::ffff:0:0/96", "::/96", "64:ff9b::/96"].compactMap(
        IPNetwork.init)
    private static let sixToFour = IPNetwork(prefix: [0x20, 0x02], length: 16)
}

/// Addresses that begin with the same bits.
public struct IPNetwork: Hashable, Sendable, LosslessStringConvertible {
    private let first: IPAddress
    /// How many bits are the same.
    private let length: Int

    /// `nil` unless `text` is an address, or one with the number of bits that count: `10.0.0.0/8`,
    /// `fd00::/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let all = address.bytes.count * 8
        guard let length = parts.count == 2 ? Int(parts[1]) : all, (0...all).contains(length) else {
            return nil
        }
        first = address
        self.length = length
    }

    /// A network of version 6.
    init(prefix: [UInt8], length: Int) {
        first = IPAddress(bytes: prefix + Array(repeating: 0, count: 16 - prefix.count))
        self.length = length
    }

    public var description: String { "\(first)/\(length)" }

    /// Whether `address` is one of these, in exactly this version of the protocol.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        return (0..<length).allSatisfy { bit in
            (address.bytes[bit / 8] ^ first.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }
}
