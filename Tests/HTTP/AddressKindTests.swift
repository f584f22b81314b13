import Testing

@testable import HalcyonHTTP

/// What addresses are for, and which of them a server reaches.
struct AddressKindTests {
    /// The addresses of each kind.
    static let vectors: [AddressKind: String] = [
        .public: """
        8.8.8.8 1.1.1.1 93.184.216.34 198.17.255.255 64:ff9b::8.8.8.8 172.15.255.255 \
        2606:4700:4700::1111 172.32.0.1 2a00:1450:4001:80b::200e 2001:4860:4860::8888 \
        192.167.255.255 100.63.255.255 100.128.0.1 ::ffff:8.8.8.8 2003::1
        """,
        .private: """
        ::ffff:10.0.0.1 ::ffff:0:10.0.0.1 64:ff9b::10.0.0.1 10.0.0.1 10.255.255.255 172.16.0.1 \
        172.31.255.255 192.168.0.1 fec0::1 fc00::1 fd12:3456:789a::1
        """,
        .shared: "100.64.0.1 100.127.255.255",
        .loopback: "127.0.0.1 127.255.255.254 64:ff9b::7f00:1 ::1 ::ffff:127.0.0.1",
        .linkLocal: "fe80::1 febf::1 169.254.1.1",
        .unspecified: "0.0.0.0 0.1.2.3 ::",
        .multicast: "224.0.0.1 239.255.255.250 ff02::1",
        .metadata: """
        192.0.0.192 ::ffff:169.254.169.254 100.100.100.200 fd00:ec2::254 169.254.169.254 \
        fd20:ce::254 169.254.170.2 168.63.129.16
        """,
        .tunnel: """
        ::10.0.0.1 ::8.8.8.8 2002:7f00:1:: 2002:808:808:: 2001:0:4136:e378:8000:63bf:f5ff:fffe \
        2001:0:53aa:64c:0:0:f7f7:f7f7 2001:470:1:18::5efe:7f00:1 \
        2001:4860:0:0:200:5efe:808:808
        """,
        .reserved: """
        192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.7 203.0.113.9 64:ff9b:1:a00:0:1:: \
        240.0.0.1 255.255.255.255 2001:db8::1 3fff::1 2001:2::1 2001:20::1 100::1 5f00::1 \
        4000::1 192.0.0.1
        """,
    ]

    @Test(
        arguments: vectors.flatMap { kind, addresses in
            addresses.split(separator: " ").map { (String($0), kind) }
        })
    func eachAddressHasItsKind(text: String, kind: AddressKind) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressKind(address) == kind)
        #expect(AddressPolicy.publicInternet().allows(address) == (kind == .public))
        let inside = AddressPolicy.publicInternet(and: [.private, .shared])
        #expect(inside.allows(address) == [.public, .private, .shared].contains(kind))
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
