import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct AddressPolicyTests {
    private let body = Data([42, 1])
    private let downloader = ImageDownloader.patient()

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1",
        "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1",
        "2001:db8::1", "2001::1", "3fff::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::8.8.8.8", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::", "100::1",
        "5f00::1",
    ])
    func whatIsNotPublicIsNotReached(text: String) throws {
        #expect(!AddressPolicy.publicOnly.allows(try #require(IPAddress(text))))
        #expect(AddressPolicy.unrestricted.allows(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0",
        "192.167.255.255", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    ])
    func whatIsPublicIsReached(text: String) throws {
        #expect(AddressPolicy.publicOnly.allows(try #require(IPAddress(text))))
    }

    @Test func listsDecideBeforeTheRest() throws {
        let policy = AddressPolicy(
            allowsPrivateNetworks: false, allowed: [try #require(IPNetwork("10.1.0.0/16"))],
            denied: [try #require(IPNetwork("10.1.2.0/24")), try #require(IPNetwork("8.8.8.8"))])
        func allows(_ text: String) throws -> Bool { policy.allows(try #require(IPAddress(text))) }
        #expect(try allows("10.1.3.1") && allows("::ffff:10.1.3.1") && allows("1.1.1.1"))
        #expect(try !allows("10.1.2.1") && !allows("::ffff:10.1.2.1") && !allows("10.2.0.1"))
        #expect(try !allows("8.8.8.8") && !allows("64:ff9b::808:808"))
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "a.example/8", "1.2.3.4/",
        "10.0.0.0\0/8", "10.0.0.0/+8", "fd00::/+8",
    ])
    func whatIsNoNetworkIsRefused(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4 ", "1.2.3.4\0", "::\0a.example", "[::1]", "::1%eth0"])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func aNetworkIsWrittenAsItIsRead() throws {
        #expect(try #require(IPNetwork("fd00::/8")).description == "fd00::/8")
        #expect(try #require(IPNetwork("192.0.2.7")).description == "192.0.2.7/32")
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[0:0::1]"])
    func thisMachineIsNotReached(host: String) async throws {
        let server = try await OriginServer.start()
        downloader.addressPolicy = .publicOnly
        let url = try #require(URL(string: "http://\(host):\(server.port)/x"))
        let error = await downloader.result(url).transportError
        guard case .addressRefused(let name, let address) = error else { throw Unexpected(error) }
        #expect(IPAddress(address) != nil && server.connectionCount == 0)
        guard host == "127.0.0.1" else { return }
        #expect(name == host && address == host)
        #expect("\(try #require(error))".contains(host))
    }

    @Test(arguments: ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"])
    func aHostThatCanBeReadInTwoWaysIsNone(host: String) async throws {
        let url = try #require(URL(string: "http://\(host)/x"))
        #expect(await downloader.result(url).transportError == .unsupportedURL(url.absoluteString))
    }

    @Test func redirectsAreLookedAtToo() async throws {
        let server = try await OriginServer.start()
        let other = try await OriginServer.start(host: "127.0.0.2")
        server.route("/x", .redirect(to: other.url("/y").absoluteString))
        other.route("/y", .ok(body))
        downloader.addressPolicy = AddressPolicy(
            allowsPrivateNetworks: false, allowed: [try #require(IPNetwork("127.0.0.1"))])
        #expect(
            await downloader.result(server.url("/x")).transportError
                == .addressRefused(host: "127.0.0.2", address: "127.0.0.2"))
        #expect(server.requestCount == 1 && other.connectionCount == 0)
    }

    @Test func whatIsAllowedIsReachedAgainAndAgain() async throws {
        let server = try await OriginServer.start()
        server.route("/x", .ok(body))
        downloader.addressPolicy = AddressPolicy(
            allowsPrivateNetworks: false, allowed: [try #require(IPNetwork("127.0.0.0/8"))])
        for _ in 0..<2 {
            #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        }
        #expect(server.connectionCount == 1)
    }
}
