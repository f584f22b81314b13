import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Answers and addresses that are wrong, and connections that are dead.
struct NetworkFaultTests {
    private let body = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &+ 65) })
    private let downloader = ImageDownloader.patient()
    private let server: OriginServer

    init() async throws { server = try await OriginServer.start() }

    private func result(of answer: String) async -> LoadingResult {
        server.route("/x", .garbage(Data(answer.utf8)))
        return await downloader.result(server.url("/x"))
    }

    private func posting(_ fields: [String: String] = [:]) -> AnyModifier {
        changing { request in
            request.httpMethod = "POST"
            request.httpBody = Data("order".utf8)
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        }
    }

    // MARK: - Status

    @Test(arguments: [
        "000", "001", "050", "099", "-1", "-99", "1e2", "2000", "99999999999999999999",
    ])
    func aStatusThatDoesNotExistIsAnError(status: String) async throws {
        let result = await result(of: "HTTP/1.1 \(status) X\r\nContent-Length: 1\r\n\r\nx")
        #expect(result.transportError?.kind == "invalidResponse", "\(result)")
    }

    @Test(arguments: [0, 1, 50, 99]) func norIsItInHTTP2(status: Int) async throws {
        let server = try await OriginServer.start(tls: true)
        server.route("/x", .status(status))
        downloader.trustedHosts = ["localhost"]
        // To libcurl it is a broken stream.
        #expect(await downloader.result(server.url("/x")).transportError != nil)
        #expect(server.requestCount > 0)
    }

    @Test func aHeaderThatDoesNotEndIsAnError() async throws {
        let field = "X-Long: \(String(repeating: "x", count: 1000))\r\n"
        let answer = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 300)
        let error = await result(of: answer).transportError
        guard case .invalidResponse(_, let reason) = error else { throw Unexpected(error) }
        #expect(reason.contains("262144"))
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nX-Long: ", "HTTP/1.1 200 ", ""])
    func norMayALineOfItBeEndless(beginning: String) async throws {
        let error = await result(of: beginning + String(repeating: "x", count: 1 << 20))
            .transportError
        let words = error?.description ?? ""
        #expect(!words.lowercased().contains("memory"), "\(words)")
        guard !beginning.isEmpty else { return }
        guard case .invalidResponse(_, let reason) = error else { throw Unexpected(error) }
        #expect(reason == "a line of its header is too long")
    }

    @Test(arguments: ["Content-Length: 2\r\nContent-Length: 1", "Content-Length: 2, 1"])
    func lengthsThatContradictEachOtherAreAnError(lengths: String) async throws {
        #expect(
            await result(of: "HTTP/1.1 200 OK\r\n\(lengths)\r\n\r\n*1").transportError
                == .invalidResponse(
                    url: server.url("/x").absoluteString,
                    reason: "its header says several lengths of the body"))
    }

    @Test(arguments: ["Content-Length: 2\r\ncontent-length: 2", "Content-Length: 2, 2"])
    func aLengthMayBeSaidTwice(lengths: String) async throws {
        let result = await result(of: "HTTP/1.1 200 OK\r\n\(lengths)\r\n\r\n*1")
        #expect(result.bytes == Data("*1".utf8))
    }

    // MARK: - Descriptors

    @Test func aProcessWithoutDescriptorsIsToldSoAndGoesOnWhenThereAreSome() async throws {
        let server = try await OriginServer.start(files: [
            "/x": PNGFixture.data(.gradient(width: 8, height: 8))
        ])
        let step = try CacheStep("descriptors", server.url("/x").absoluteString)
        #expect(await step.exitCode() == 0)
        let lines = step.output.split(separator: "\n")
        #expect(lines.map { $0.contains("Too many open files") } == [true, false, true, false])
        #expect(lines.map { $0.hasSuffix(" bytes") } == [false, true, false, true], "\(lines)")
    }

    // MARK: - Addresses

    @Test(arguments: [
        "http://127.0.0.1:65536/x", "http://127.0.0.1:0/x", "https://localhost:70000/",
        "http://127.0.0.1:99999999999999999999/x", "http://127.0.0.1:4294967376/x",
    ])
    func aPortThatDoesNotExistIsAnError(text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(await downloader.result(url).transportError == .unsupportedURL(text))
        server.route("/x", .redirect(to: text))
        #expect(await downloader.result(server.url("/x")).transportError == .unsupportedURL(text))
    }

    @Test func userAndPasswordOfAURLAreNotSent() async throws {
        server.route("/x", .ok(body))
        let url = try #require(URL(string: "http://me:secret@127.0.0.1:\(server.port)/x"))
        _ = try await downloader.result(url).get()
        #expect(server.requests.map { $0.headers["Authorization"] } == [nil])
    }

    // MARK: - Dead connections

    @Test func aServerThatHangsUpAfterEachAnswerFailsNobody() async throws {
        let (body, downloader) = (body, downloader)
        // Complete, and then the connection is closed without a word.
        server.route("/x", .ok(body).with(.declaredLength(body.count)))
        server.route("/r", .redirect(to: "/x").with(.declaredLength(0)))
        let failures = await withTaskGroup(of: [LoadingResult].self) { group in
            for lane in 0..<4 {
                group.addTask {
                    var failures: [LoadingResult] = []
                    for index in 0..<50 {
                        let url = server.url("/\(index % 2 == 0 ? "x" : "r")?\(lane)-\(index)")
                        let result = await downloader.result(url)
                        if result.errorCode != nil { failures.append(result) }
                    }
                    return failures
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(failures.isEmpty, "\(failures.count) of 200: \(String(describing: failures.first))")
    }

    @Test func aRequestOnADeadConnectionIsSentOnceMore() async throws {
        server.route("/x", .ok(body))
        server.route("/once", .ok(body).with(.abort(.close, times: 1)))
        server.route("/reset", .ok(body).with(.abort(.reset, times: 1)))
        server.route("/never", .abort())
        for path in ["/once", "/reset"] {
            _ = try await downloader.result(server.url("/x")).get()
            #expect(try await downloader.result(server.url(path)).get().originalData == body)
            #expect(server.requestCount(for: path) == 2)
        }
        // Once more, and not again.
        _ = try await downloader.result(server.url("/x")).get()
        #expect(await downloader.result(server.url("/never")).errorCode == 2003)
        #expect(server.requestCount(for: "/never") == 2)
    }

    @Test func onANewConnectionItIsNot() async throws {
        server.route("/never", .abort())
        #expect(await downloader.result(server.url("/never")).errorCode == 2003)
        #expect(server.requestCount == 1)
    }

    @Test func whatMayDoSomethingIsSentOnce() async throws {
        server.route("/x", .ok(body))
        server.route("/y", .ok(body).with(.abort(.close, times: 1)))
        _ = try await downloader.result(server.url("/x")).get()
        let result = await downloader.result(server.url("/y"), .modifying(posting()))
        #expect(result.errorCode == 2003 && server.requestCount(for: "/y") == 1)
    }

    @Test func anAnswerThatHadBegunIsNotAskedForAgain() async throws {
        server.route("/x", .ok(body))
        server.route("/y", .ok(body).with(.breakOff(afterBytes: 10, .reset)))
        _ = try await downloader.result(server.url("/x")).get()
        #expect(await downloader.result(server.url("/y")).errorCode == 2003)
        #expect(server.requestCount(for: "/y") == 1)
    }

    // MARK: - Requests

    @Test func aTransferTakesNothingFromTheOneBefore() async throws {
        server.route("/x", .ok(body))
        let post = posting(["X-Once": "1", "Accept-Encoding": "identity"])
        for modifier in [post, changing { $0.httpMethod = "PUT" }, changing { _ in }] {
            _ = try await downloader.result(server.url("/x"), .modifying(modifier)).get()
        }
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "PUT", "GET"])
        #expect(requests.map(\.body) == [Data("order".utf8), Data(), Data()])
        #expect(requests.map { $0.headers["X-Once"] } == ["1", nil, nil])
        #expect(requests.map { $0.headers["Content-Length"] } == ["5", "0", nil])
        #expect(requests[0].headers["Accept-Encoding"] == "identity")
        #expect(requests[2].headers["Accept-Encoding"] != "identity")
        #expect(requests.allSatisfy { $0.headers["Content-Type"] == nil })
        #expect(requests.allSatisfy { $0.headers["Expect"] == nil })
    }

    @Test func credentialsGoToAnotherOriginOnlyByAHandler() async throws {
        let other = try await OriginServer.start()
        server.route("/x", .redirect(to: other.url("/y").absoluteString))
        other.route("/y", .ok(body))
        var options = KingfisherParsedOptionsInfo.modifying(setting(["X-Api-Key": "v"]))
        _ = try await downloader.result(server.url("/x"), options).get()
        options.redirectHandler = AnyRedirectHandler { _, _, request, reply in
            var request = request
            request.setValue("v", forHTTPHeaderField: "X-Api-Key")
            reply(request)
        }
        _ = try await downloader.result(server.url("/x"), options).get()
        #expect(other.requests.map { $0.headers["X-Api-Key"] } == [nil, "v"])
    }

    // MARK: - Header fields that mean little

    private let picture = FreshnessFixture.png(3)

    private func width(_ url: URL) async throws -> Int {
        try await downloader.downloadImage(with: url).image.pixelSize.width
    }

    @Test(arguments: ["none", "utf-8", "binary", "aws-chunked", "base64", "aws-chunked, utf-8"])
    func aPictureInACodingThatNobodyKnowsIsAPicture(coding: String) async throws {
        server.route("/a.png", .png(picture).header("Content-Encoding", coding))
        #expect(try await width(server.url("/a.png")) == 3)
        #expect(server.requestCount == 1)
    }

    @Test func whatIsNoPictureIsToldByItsCoding() async throws {
        server.route(
            "/a.png",
            .ok(Data(picture.base64EncodedString().utf8)).header("Content-Encoding", "Base64"))
        let url = server.url("/a.png").absoluteString
        #expect(
            await downloader.result(server.url("/a.png")).transportError
                == .undecodableBody(url: url, reason: "its content encoding is base64"))
    }

    @Test(arguments: [
        ("/caf\u{E9}.png", "/caf%E9.png"), ("/b/\u{FC}\u{E4}?q=\u{DF}", "/b/%FC%E4?q=%DF"),
        ("/%E9\u{E9}", "/%E9%E9"),
    ])
    func aLocationInLatin1LeadsWhereItsServerMeans(
        location: String, target: String
    ) async throws {
        let picture = picture
        let server = try await RawServer.start { request in
            guard !request.hasPrefix("GET /a ") else {
                let bytes = location.unicodeScalars.map { UInt8($0.value) }
                return Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + bytes
                    + Array("\r\n\r\n".utf8)
            }
            return Array("HTTP/1.1 200 OK\r\nContent-Length: \(picture.count)\r\n\r\n".utf8)
                + picture
        }
        #expect(try await width(server.url("/a")) == 3)
        #expect(server.requests.last?.hasPrefix("GET \(target) ") == true)
    }

    @Test func aLocationInUTF8IsEncodedAsEver() async throws {
        server.route("/a", .redirect(to: "/caf\u{E9}.png"))
        server.route("/caf%C3%A9.png", .png(picture))
        _ = try? await width(server.url("/a"))
        #expect(server.requests.last?.target == "/caf%C3%A9.png")
    }
}
