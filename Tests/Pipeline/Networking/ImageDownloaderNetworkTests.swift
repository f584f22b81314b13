import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The downloader against a real server on the loopback interface.
struct ImageDownloaderNetworkTests {
    private static let content = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &+ 65) })
    private static let broken = ["connectionReset", "incompleteBody"]
    private let body = Self.content
    private let downloader = ImageDownloader.patient()

    private func server(
        _ response: OriginResponse, tls: OriginTLS? = nil
    ) async throws -> OriginServer {
        let server = try await OriginServer.start(tls: tls)
        server.route("/x", response)
        return server
    }

    /// Why the download of `/x` fails.
    private func failure(from server: OriginServer) async -> ImageTransportError? {
        await downloader.result(server.url("/x")).transportError
    }

    // MARK: - Success

    @Test func downloadsOverHTTP() async throws {
        let server = try await server(.ok(body))
        let result = try await downloader.result(server.url("/x")).get()
        #expect(result.originalData == body && result.url == server.url("/x"))
        #expect(server.requests[0].headers["Accept-Encoding"] == "gzip, deflate, br, zstd")
        let metrics = try #require(result.metrics)
        #expect(metrics.httpStatusCode == 200 && metrics.responseBodyBytesReceived == 5000)
        #expect(metrics.totalRequestDuration > 0 && metrics.redirectCount == 0)
        let duration = try #require(metrics.retrieveImageDuration)
        #expect(duration > 0 && duration <= metrics.totalRequestDuration)
        #expect(metrics.downloadSpeed == 5000 / duration)
    }

    // MARK: - Status and content

    /// Upstream: testServerInvalidStatusCode
    @Test(arguments: [404, 500]) func anErrorStatusIs2002(status: Int) async throws {
        let server = try await server(.status(status))
        downloader.maximumConnectionsPerHost = 1
        let error = await downloader.result(server.url("/x")).error
        #expect(error?.isInvalidResponseStatusCode(status) == true)
        // The short body was read, so the connection serves the next request too.
        server.route("/y", .ok(body))
        _ = try await downloader.result(server.url("/y")).get()
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [OriginResponse.html(), .empty])
    func whatIsNoImageIs4001(response: OriginResponse) async throws {
        let server = try await server(response)
        #expect(await downloader.result(server.url("/x")).errorCode == 4001)
    }

    // MARK: - Broken answers

    @Test func aShortBodyIsAnError() async throws {
        let server = try await server(.ok(body).with(.breakOff(afterBytes: 3000, .close)))
        let url = server.url("/x").absoluteString
        #expect(
            await failure(from: server)
                == .incompleteBody(url: url, received: 3000, expected: 5000))
    }

    @Test(
        arguments: [
            (
                "a chunked body that is cut off",
                .ok(content).with(.chunked, .breakOff(afterBytes: 3000, .close)), nil, broken
            ),
            ("a reset", .ok(content).with(.breakOff(afterBytes: 3000, .reset)), nil, broken),
            (
                "a short body over HTTP/2", .ok(content).with(.breakOff(afterBytes: 3000, .close)),
                OriginTLS(), broken
            ),
            ("no answer at all", .abort(), nil, broken),
            ("garbage", .garbage(), nil, ["invalidResponse"]),
        ] as [(String, OriginResponse, OriginTLS?, [String])])
    func aBrokenAnswerIsAnError(
        _ what: String, _ response: OriginResponse, _ tls: OriginTLS?, _ kinds: [String]
    ) async throws {
        let server = try await server(response, tls: tls)
        downloader.additionalTrustRoots = [OriginServer.certificatePEM]
        let failure = await failure(from: server)
        #expect(kinds.contains(failure?.kind ?? ""), "\(String(describing: failure))")
    }

    // MARK: - Limits

    @Test func aBodyOfExactlyTheLimitIsFine() async throws {
        let server = try await server(.ok(body))
        downloader.maximumResponseSize = body.count
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        downloader.maximumResponseSize = body.count - 1
        #expect(await downloader.result(server.url("/x")).errorCode == 2003)
    }

    @Test(arguments: [
        OriginResponse.ok(content).with(.wait(.gate(Gate()))),
        .drip(content, bytes: 1, every: .milliseconds(5)),
    ])
    func aServerThatSendsTooLittleTimesOut(response: OriginResponse) async throws {
        let server = try await server(response)
        // The session's counts where it is the shorter one.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 0.2
        downloader.sessionConfiguration = configuration
        let url = server.url("/x").absoluteString
        #expect(await failure(from: server) == .timedOut(.stall, url: url))
    }

    @Test func theWholeDownloadHasADeadline() async throws {
        let server = try await server(.endless(Data(count: 64 * 1024)))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 0.2
        downloader.sessionConfiguration = configuration
        downloader.maximumResponseSize = nil
        let url = server.url("/x").absoluteString
        #expect(await failure(from: server) == .timedOut(.total, url: url))
    }

    // MARK: - Connections

    @Test func aRefusedConnectionIsAnError() async throws {
        let port = try ClosedPort()
        let error = await downloader.result(port.url("/x")).transportError
        withExtendedLifetime(port) {}
        guard case .connectionRefused("127.0.0.1", _) = error else { throw Unexpected(error) }
    }

    @Test func anUnknownHostIsAnError() async throws {
        let url = URL(string: "http://no-such-host.invalid/x")!
        let error = await downloader.result(url).transportError
        guard case .cannotResolveHost("no-such-host.invalid", _) = error else {
            throw Unexpected(error)
        }
    }

    @Test(arguments: [0, 1]) func aRequestWithLineBreaksInItIsNotSent(place: Int) async throws {
        let server = try await server(.ok(body))
        let modifier = changing { request in
            if place == 1 { request.httpMethod = "GET / HTTP/1.1\r\nX-Injected: b\r\n\r\nGET" }
            if place == 0 { request.setValue("b", forHTTPHeaderField: "X-Test: a\r\nX-Injected") }
        }
        let result = await downloader.result(server.url("/x"), .modifying(modifier))
        #expect(result.transportError?.kind == "invalidRequest", "\(result)")
        #expect(server.requestCount == 0)
    }

    // MARK: - Redirects

    @Test(arguments: [301, 302, 303, 307, 308]) func followsRedirects(status: Int) async throws {
        let server = try await server(.redirect(to: "/y/", status: status))
        downloader.maximumConnectionsPerHost = 1
        server.route("/y/", .ok(body))
        let result = try await downloader.result(server.url("/x")).get()
        #expect(result.originalData == body && result.metrics?.redirectCount == 1)
        #expect(result.url == server.url("/x") && server.connectionCount == 1)
    }

    @Test func aRedirectLoopIsAnError() async throws {
        let server = try await OriginServer.start()
        server.routeRedirectLoop("/x", "/y")
        let url = server.url("/x").absoluteString
        #expect(await failure(from: server) == .tooManyRedirects(url: url, limit: 10))
        #expect(server.requestCount == 11)
    }

    @Test func aRedirectToAFileIsNotFollowed() async throws {
        let server = try await server(.redirect(to: "file:///etc/passwd"))
        #expect(await failure(from: server) == .redirectToUnsupportedScheme("file:///etc/passwd"))
    }

    // MARK: - TLS and HTTP/2

    @Test func aTrustedHostIsNotVerifiedButOthersAre() async throws {
        let tls = OriginTLS(certificate: .expired, protocols: ["http/1.1"])
        let server = try await server(.ok(body), tls: tls)
        downloader.trustedHosts = ["LOCALHOST"]
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        downloader.trustedHosts = ["localhost.example"]
        #expect(await failure(from: server)?.kind == "tls")
    }

    @Test(arguments: [TestCertificate.expired, .wrongHost])
    func aWrongCertificateIsRefusedEvenWhenItsRootIsTrusted(certificate: TestCertificate)
        async throws
    {
        let server = try await server(.ok(body), tls: OriginTLS(certificate: certificate))
        downloader.additionalTrustRoots = [certificate.certificatePEM]
        let error = await failure(from: server)
        guard case .tls("localhost", _) = error else { throw Unexpected(error) }
        #expect(server.requestCount == 0)
    }

    @Test func anUnreadableRootIsAnError() async throws {
        let server = try await server(.ok(body))
        downloader.additionalTrustRoots = ["no certificate"]
        #expect(await failure(from: server)?.kind == "tls")
    }

    @Test func manyHTTP2RequestsShareOneConnection() async throws {
        let server = try await server(.ok(body), tls: OriginTLS())
        downloader.additionalTrustRoots = [OriginServer.certificatePEM]
        #expect(await downloader.result(server.url("/x")).bytes == body)
        #expect(server.requests[0].httpVersion == "2")
        let gate = Gate()
        let results = Recorder<LoadingResult>()
        for index in 0..<20 {
            server.route("/\(index)", .ok(body).with(.wait(.gate(gate))))
            downloader.download(server.url("/\(index)"), into: results)
        }
        await server.waitForRequests(21)
        gate.open()
        #expect(await results.waitFor(count: 20).allSatisfy { $0.errorCode == nil })
        #expect(server.connectionCount == 1)
    }
}
