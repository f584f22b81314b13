import Testing

@testable import HalcyonHTTP

/// What addresses are for, and which of them a server reaches.
struct AddressKindTests {
    /// Address, kind, whether it is reached by default, and where private networks are allowed.
    static let vectors: [(String, AddressKind, Bool, Bool)] = [
        ("8.8.8.8", .public, true, true),
        ("192.0.0.192", .metadata, false, false),
        ("::ffff:10.0.0.1", .private, false, true),
        ("1.1.1.1", .public, true, true),
        ("192.0.2.1", .reserved, false, false),
        ("::ffff:169.254.169.254", .metadata, false, false),
        ("93.184.216.34", .public, true, true),
        ("192.88.99.1", .reserved, false, false),
        ("::ffff:0:10.0.0.1", .private, false, true),
        ("0.0.0.0", .unspecified, false, false),
        ("198.17.255.255", .public, true, true),
        ("::10.0.0.1", .tunnel, false, false),
        ("0.1.2.3", .unspecified, false, false),
        ("198.18.0.1", .reserved, false, false),
        ("::8.8.8.8", .tunnel, false, false),
        ("127.0.0.1", .loopback, false, false),
        ("198.51.100.7", .reserved, false, false),
        ("64:ff9b::8.8.8.8", .public, true, true),
        ("127.255.255.254", .loopback, false, false),
        ("203.0.113.9", .reserved, false, false),
        ("64:ff9b::10.0.0.1", .private, false, true),
        ("10.0.0.1", .private, false, true),
        ("224.0.0.1", .multicast, false, false),
        ("64:ff9b::7f00:1", .loopback, false, false),
        ("10.255.255.255", .private, false, true),
        ("239.255.255.250", .multicast, false, false),
        ("64:ff9b:1:a00:0:1::", .reserved, false, false),
        ("172.15.255.255", .public, true, true),
        ("240.0.0.1", .reserved, false, false),
        ("2002:7f00:1::", .tunnel, false, false),
        ("172.16.0.1", .private, false, true),
        ("255.255.255.255", .reserved, false, false),
        ("2002:808:808::", .tunnel, false, false),
        ("172.31.255.255", .private, false, true),
        ("2606:4700:4700::1111", .public, true, true),
        ("2001:0:4136:e378:8000:63bf:f5ff:fffe", .tunnel, false, false),
        ("172.32.0.1", .public, true, true),
        ("2a00:1450:4001:80b::200e", .public, true, true),
        ("2001:0:53aa:64c:0:0:f7f7:f7f7", .tunnel, false, false),
        ("192.168.0.1", .private, false, true),
        ("::1", .loopback, false, false),
        ("2001:4860:4860::8888", .public, true, true),
        ("192.167.255.255", .public, true, true),
        ("::", .unspecified, false, false),
        ("2001:470:1:18::5efe:7f00:1", .tunnel, false, false),
        ("100.63.255.255", .public, true, true),
        ("fe80::1", .linkLocal, false, false),
        ("2001:4860:0:0:200:5efe:808:808", .tunnel, false, false),
        ("100.64.0.1", .shared, false, true),
        ("febf::1", .linkLocal, false, false),
        ("2001:db8::1", .reserved, false, false),
        ("100.127.255.255", .shared, false, true),
        ("fec0::1", .private, false, true),
        ("3fff::1", .reserved, false, false),
        ("100.128.0.1", .public, true, true),
        ("fc00::1", .private, false, true),
        ("2001:2::1", .reserved, false, false),
        ("100.100.100.200", .metadata, false, false),
        ("fd12:3456:789a::1", .private, false, true),
        ("2001:20::1", .reserved, false, false),
        ("169.254.1.1", .linkLocal, false, false),
        ("fd00:ec2::254", .metadata, false, false),
        ("100::1", .reserved, false, false),
        ("169.254.169.254", .metadata, false, false),
        ("fd20:ce::254", .metadata, false, false),
        ("5f00::1", .reserved, false, false),
        ("169.254.170.2", .metadata, false, false),
        ("ff02::1", .multicast, false, false),
        ("4000::1", .reserved, false, false),
        ("168.63.129.16", .metadata, false, false),
        ("::ffff:8.8.8.8", .public, true, true),
        ("2003::1", .public, true, true),
        ("192.0.0.1", .reserved, false, false),
        ("::ffff:127.0.0.1", .loopback, false, false),
    ]

    @Test(arguments: vectors)
    func eachAddressHasItsKind(
        text: String, kind: AddressKind, isPublic: Bool, isInside: Bool
    ) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressKind(address) == kind)
        #expect(AddressPolicy.publicInternet().allows(address) == isPublic)
        let inside = AddressPolicy.publicInternet(and: [.private, .shared])
        #expect(inside.allows(address) == isInside)
    }

    @Test func metadataIsReachedByItsVeryAddressOnly() throws {
        let address = try #require(IPAddress("169.254.169.254"))
        let wrapped = try #require(IPAddress("::ffff:169.254.169.254"))
        func policy(_ network: String) throws -> AddressPolicy {
            .publicInternet(
                and: Set(AddressKind.allCases), allowed: [try #require(IPNetwork(network))])
        }
        #expect(try !policy("169.254.0.0/16").allows(address))
        #expect(try !policy("0.0.0.0/0").allows(wrapped))
        #expect(try policy("169.254.169.254").allows(address))
        #expect(try policy("169.254.169.254").allows(wrapped))
    }

    @Test func aDeniedNetworkGoesBeforeEverything() throws {
        let network = try #require(IPNetwork("93.184.216.0/24"))
        let policy = AddressPolicy.publicInternet(
            and: [.private], allowed: [network], denied: [network])
        #expect(try !policy.allows(#require(IPAddress("93.184.216.34"))))
        #expect(try policy.allows(#require(IPAddress("10.0.0.1"))))
        #expect(try !policy.allows(#require(IPAddress("127.0.0.1"))))
        #expect(policy.isRestricted)
    }

    @Test func anAllowedNetworkGoesBeforeItsKind() throws {
        let network = try #require(IPNetwork("127.0.0.1"))
        let policy = AddressPolicy.publicInternet(allowed: [network])
        #expect(try policy.allows(#require(IPAddress("127.0.0.1"))))
        #expect(try policy.allows(#require(IPAddress("::ffff:127.0.0.1"))))
        #expect(try !policy.allows(#require(IPAddress("127.0.0.2"))))
    }
}
