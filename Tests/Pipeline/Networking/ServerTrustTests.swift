import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Who is trusted, and who this program says it is.
struct ServerTrustTests {
    private let body = Data([42, 1])
    private let downloader = ImageDownloader.patient()

    private func server(_ tls: OriginTLS?) async throws -> OriginServer {
        let server = try await OriginServer.start(tls: tls)
        server.route("/x", .ok(body))
        return server
    }

    @Test(arguments: [["h2", "http/1.1"], ["http/1.1"]])
    func anEvaluatorMayTrustWhatVerificationWouldRefuse(protocols: [String]) async throws {
        let server = try await server(OriginTLS(certificate: .expired, protocols: protocols))
        let asked = Recorder<ServerTrust>()
        downloader.serverTrustEvaluator = .insteadOfVerification { trust in
            asked.record(trust)
            return true
        }
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        _ = try await downloader.result(server.url("/x")).get()
        // Once for the connection, which both requests used.
        let trust = try #require(asked.events.first)
        #expect(asked.count == 1 && server.connectionCount == 1)
        #expect(trust.host == "localhost" && trust.certificate == TestCertificate.expired.der)
        // A key of the curve P-256 is 91 bytes long and part of the certificate.
        #expect(trust.publicKey.count == 91 && trust.certificate.range(of: trust.publicKey) != nil)
    }

    @Test(arguments: [["h2", "http/1.1"], ["http/1.1"]])
    func aRefusedServerGetsNoRequest(protocols: [String]) async throws {
        let server = try await server(OriginTLS(protocols: protocols))
        downloader.trustedHosts = ["localhost"]
        downloader.serverTrustEvaluator = .insteadOfVerification { _ in false }
        #expect(await downloader.result(server.url("/x")).transportError?.kind == "tls")
        await server.waitForConnections(atMost: 0)
        // A later download is another connection, and another decision.
        downloader.serverTrustEvaluator = .insteadOfVerification { _ in true }
        _ = try await downloader.result(server.url("/x")).get()
        #expect(server.requestCount == 1 && server.connectionCount == 2)
    }

    @Test func pinningAsksOnlyAboutVerifiedServers() async throws {
        let server = try await server(OriginTLS())
        let asked = Recorder<Bool>()
        let pin = TestCertificate.localhost.der
        downloader.serverTrustEvaluator = .afterVerification { trust in
            asked.record(true)
            return trust.certificate == pin
        }
        #expect(await downloader.result(server.url("/x")).transportError?.kind == "tls")
        #expect(asked.count == 0)
        downloader.additionalTrustRoots = [OriginServer.certificatePEM]
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        #expect(asked.count == 1)
        downloader.serverTrustEvaluator = .afterVerification { _ in false }
        #expect(await downloader.result(server.url("/x")).transportError?.kind == "tls")
    }

    @Test func connectionsWithoutTLSAreNotAskedAbout() async throws {
        let server = try await server(nil)
        downloader.serverTrustEvaluator = .insteadOfVerification { _ in
            Issue.record("there is no certificate")
            return false
        }
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
    }

    /// Reading all roots of the system takes longer than connecting does.
    @Test func theRootsOfTheSystemAreNotReadForEachConnection() async {
        await #expect(processExitsWith: .success) {
            func bytesRead() throws -> Int {
                let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
                let line = try #require(text.split(separator: "\n").first)
                return try #require(Int(line.drop { !$0.isNumber }))
            }
            for roots in [[], [OriginServer.certificatePEM]] {
                let downloader = ImageDownloader.patient()
                downloader.additionalTrustRoots = roots
                var before = 0
                for number in 0..<4 {
                    let server = try await OriginServer.start(tls: OriginTLS())
                    server.route("/x", .ok(Data([1])))
                    // The first time they may be.
                    if number == 1 { before = try bytesRead() }
                    let result = await downloader.result(server.url("/x"))
                    #expect((result.errorCode == nil) == !roots.isEmpty)
                }
                // Debian's file has 220,000.
                #expect(try bytesRead() - before < 100_000)
            }
            // Threads of the network still use what the end would destroy.
            ProgramEnd.skipsDestruction()
        }
    }

    @Test(arguments: [["h2", "http/1.1"], ["http/1.1"]])
    func theClientCertificateOpensAServerThatAsksForOne(protocols: [String]) async throws {
        let server = try await server(OriginTLS(clientCertificate: .client, protocols: protocols))
        downloader.additionalTrustRoots = [OriginServer.certificatePEM]
        #expect(await downloader.result(server.url("/x")).errorCode == 2003)
        #expect(server.requestCount == 0)
        downloader.clientCertificate = ClientCertificate(
            certificateChainPEM: TestCertificate.client.certificatePEM,
            privateKeyPEM: TestCertificate.client.privateKeyPEM)
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
    }

    @Test func anUnreadableClientCertificateIsAnError() async throws {
        let server = try await server(OriginTLS())
        downloader.clientCertificate = ClientCertificate(
            certificateChainPEM: TestCertificate.client.certificatePEM, privateKeyPEM: "no key")
        #expect(await downloader.result(server.url("/x")).transportError?.kind == "tls")
    }

    @Test func thePrivateKeyIsNotPrinted() {
        let certificate = ClientCertificate(certificateChainPEM: "chain", privateKeyPEM: "key")
        var text = ""
        dump(certificate, to: &text)
        #expect("\(certificate)" == "chain" && !text.contains("key"))
    }
}

extension TestCertificate {
    fileprivate var der: Data? {
        let lines = certificatePEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Data(base64Encoded: lines.joined())
    }
}
