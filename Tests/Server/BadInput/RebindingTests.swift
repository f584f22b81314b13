import CTestKit
import Foundation
import HalcyonHTTP
import HalcyonServer
import HalcyonTestKit
import Testing

/// Names whose addresses are not what they seem. 127.0.0.2 stands for an address of the public Internet, and
/// is the only one of this machine that may be connected to.
@Suite struct RebindingTests {
    private let picture = PNGFixture.solid(.red, width: 9, height: 9)

    private func start(_ ports: Int...) async throws -> LiveServer {
        try await LiveServer.start {
            $0.sources.http.allow = ["*"]
            $0.sources.http.ports = ports
            $0.sources.http.allowAddresses = [try #require(IPNetwork("127.0.0.2"))]
            $0.http.errorBodies = .full
        }
    }

    /// A name for one test, of which the system is asked as often as `count` says.
    private func expectAsked(
        _ name: String, _ count: Int, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(scripted_names_count(name) == count, sourceLocation: location)
    }

    /// A server at 127.0.0.2 and one at 127.0.0.1 with the same port: one that is free at the first address may
    /// be somebody's at the second, then others are tried.
    private func startAtOnePort() async throws -> (outer: OriginServer, inner: OriginServer) {
        var failure: any Error = CancellationError()
        for _ in 0..<50 {
            let outer = try await OriginServer.start(host: "127.0.0.2", files: ["/a.png": picture])
            do {
                let inner = try await OriginServer.start(
                    port: outer.port, files: ["/a.png": picture])
                return (outer, inner)
            } catch { failure = error }
        }
        throw failure
    }

    @Test func ofAPublicAndAPrivateAddressOnlyThePublicOneIsTried() async throws {
        let (outer, inner) = try await startAtOnePort()
        for (number, addresses) in ["127.0.0.1 127.0.0.2", "127.0.0.2 127.0.0.1"].enumerated() {
            let name = "both\(number).test"
            scripted_names_set(name, addresses)
            let live = try await start(outer.port)
            let answer = try await live.ask("/_/plain/http://\(name):\(outer.port)/a.png")
            #expect(answer.status == 200, "\(answer.text)")
            expectAsked(name, 1)
        }
        #expect(inner.connectionCount == 0)
    }

    @Test func thePrivateAddressIsNotTriedWhenThePublicOneDoesNotAnswer() async throws {
        let inner = try await OriginServer.start(files: ["/a.png": picture])
        scripted_names_set("half.test", "127.0.0.2 127.0.0.1")
        let live = try await start(inner.port)
        #expect(try await live.ask("/_/plain/http://half.test:\(inner.port)/a.png").status == 404)
        #expect(inner.connectionCount == 0)
    }

    @Test func aNameThatWasPublicWhenItWasAskedForFirstIsLookedAtAgain() async throws {
        let outer = try await OriginServer.start(host: "127.0.0.2")
        let inner = try await OriginServer.start(files: ["/a.png": picture])
        // The same name, at another port: it is asked for anew.
        outer.route("/a.png", .redirect(to: "http://rebound.test:\(inner.port)/a.png"))
        scripted_names_set("rebound.test", "127.0.0.2|127.0.0.1")
        let live = try await start(outer.port, inner.port)
        let answer = try await live.told("/_/plain/http://rebound.test:\(outer.port)/a.png")
        #expect(answer.status == 404 && answer.code == "source_unreachable")
        #expect(!answer.text.contains("127.0.0.1"))
        #expect(outer.requestCount == 1)
        #expect(inner.connectionCount == 0)
        expectAsked("rebound.test", 2)
        #expect(try await live.loggedRequest()["refused"] == "loopback")
        try await live.expectCalm()
    }

    @Test(arguments: [
        "10.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:127.0.0.1", "127.0.0.1",
        "0.0.0.0",
    ])
    func aNameOfAPrivateAddressIsRefused(address: String) async throws {
        let inner = try await OriginServer.start(files: ["/a.png": picture])
        let name = "n\(address.filter { $0.isLetter || $0.isNumber }).test"
        scripted_names_set(name, address)
        let live = try await start(inner.port)
        let target = "/_/plain/http://\(name):\(inner.port)/a.png"
        #expect(try await live.told(target).code == "source_unreachable")
        expectAsked(name, 1)
        #expect(inner.connectionCount == 0)
    }
}
