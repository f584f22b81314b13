import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Servers that ask for user name and password.
struct AuthenticationTests {
    private let body = Data([42, 1])
    private let right = Credentials(user: "Mufasa", password: "Circle of Life")
    private let wrong = Credentials(user: "Scar", password: "x")
    private let downloader = ImageDownloader.patient()
    private let server: OriginServer

    init() async throws {
        server = try await OriginServer.start()
        server.route("/x", .ok(body).with(.basicAuthentication(right, realm: "lions")))
    }

    private func answer(_ answer: @escaping ScriptedResponder.Answer) -> ScriptedResponder {
        let responder = ScriptedResponder(answer)
        downloader.authenticationChallengeResponder = responder
        return responder
    }

    private func answer(with credentials: Credentials) -> ScriptedResponder {
        answer { _ in (.useCredential, URLCredential(credentials)) }
    }

    @Test func basicCredentialsAreSentWhenAskedFor() async throws {
        let responder = answer(with: right)
        let result = try await downloader.result(server.url("/x")).get()
        #expect(result.originalData == body && result.metrics?.redirectCount == 0)
        let asked = try #require(responder.asked.events.first)
        #expect(responder.asked.count == 1 && server.requestCount == 2)
        #expect(asked.space.realm == "lions" && asked.space.host == "127.0.0.1")
        #expect(asked.space.port == server.port && asked.space.protocol == "http")
        #expect(asked.space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        #expect(asked.failures == 0 && asked.status == 401)
        #expect(server.requests[0].headers["Authorization"] == nil)
    }

    @Test(arguments: DigestAlgorithm.allCases, ["/x", "/a%20b/%C3%A4?q=1&r=%22"])
    func digestCredentialsAreSentWhenAskedFor(algorithm: DigestAlgorithm, target: String)
        async throws
    {
        let response = OriginResponse.ok(body)
            .with(.digestAuthentication(right, algorithm: algorithm))
        for path in ["/x", "/a b/ä"] { server.route(path, response) }
        let responder = answer(with: right)
        #expect(try await downloader.result(server.url(target)).get().originalData == body)
        #expect(responder.asked.count == 1 && server.requestCount == 2)
        #expect(
            responder.asked.events[0].space.authenticationMethod
                == NSURLAuthenticationMethodHTTPDigest)
        // The password itself is never sent.
        let sent = server.requests[1].headers["Authorization"] ?? ""
        #expect(sent.hasPrefix("Digest ") && !sent.contains("Circle"))
    }

    @Test func refusedCredentialsAreAnotherChallengeWithAFailure() async throws {
        server.route("/x", .ok(body).with(.digestAuthentication(right)))
        let responder = answer { [right, wrong] challenge in
            (.useCredential, URLCredential(challenge.previousFailureCount == 1 ? right : wrong))
        }
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        #expect(responder.asked.events.map(\.failures) == [0, 1])
    }

    @Test func credentialsThatAreAlwaysRefusedEndIn401() async throws {
        let responder = answer(with: wrong)
        let error = await downloader.result(server.url("/x")).error
        #expect(error?.isInvalidResponseStatusCode(401) == true)
        #expect(responder.asked.events.map(\.failures) == [0, 1, 2, 3, 4])
    }

    @Test(arguments: [
        URLSession.AuthChallengeDisposition.performDefaultHandling, .rejectProtectionSpace,
        .useCredential,
    ]) func withoutCredentialsTheStatusIsTheAnswer(
        disposition: URLSession.AuthChallengeDisposition
    ) async throws {
        let responder = answer { _ in (disposition, nil) }
        #expect(await downloader.result(server.url("/x")).errorCode == 2002)
        #expect(responder.asked.count == 1 && server.requestCount == 1)
    }

    @Test func aResponderWithoutMethodsAndNoResponderDoTheSame() async throws {
        #expect(await downloader.result(server.url("/x")).errorCode == 2002)
        let responder = SilentResponder()
        downloader.authenticationChallengeResponder = responder
        #expect(await downloader.result(server.url("/x")).errorCode == 2002)
        #expect(downloader.authenticationChallengeResponder === responder)
        #expect(server.requestCount == 2)
    }

    @Test func cancellingTheChallengeIsAnErrorOfItsOwn() async throws {
        let responder = answer { _ in (.cancelAuthenticationChallenge, nil) }
        #expect(
            await downloader.result(server.url("/x")).transportError
                == .authenticationCancelled(url: server.url("/x").absoluteString))
        #expect(responder.asked.count == 1)
    }

    @Test func theStrongestSchemeComesFirstAndARejectedOneGivesWay() async throws {
        let offer = """
            Basic realm="b", Digest realm="m", nonce="1", qop="auth", algorithm=MD5, \
            Digest realm="s", nonce="2", qop="auth", algorithm=SHA-256, Bearer realm="t"
            """
        server.route("/x") { [body] request in
            request.headers["Authorization"]?.hasPrefix("Basic ") == true
                ? .ok(body) : .status(401).header("WWW-Authenticate", offer)
        }
        let responder = answer { [right] challenge in
            challenge.protectionSpace.realm == "b"
                ? (.useCredential, URLCredential(right)) : (.rejectProtectionSpace, nil)
        }
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        #expect(responder.asked.events.map(\.space.realm) == ["s", "m", "b"])
    }

    private static func challenge(_ rest: String) -> OriginResponse {
        .status(401).header("WWW-Authenticate", "Digest realm=\"r\", qop=\"auth\", \(rest)")
    }

    @Test func aStaleNonceIsRenewedWithoutAsking() async throws {
        server.route("/x") { [body] request in
            let sent = request.headers["Authorization"] ?? ""
            if sent.contains("nonce=\"second\"") { return .ok(body) }
            let rest = sent.isEmpty ? "nonce=\"first\"" : "nonce=\"second\", stale=true"
            return Self.challenge(rest)
        }
        let responder = answer(with: right)
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        #expect(responder.asked.count == 1)
        #expect(server.requests.map { $0.digest["nc"] } == [nil, "00000001", "00000001"])
    }

    @Test func aServerWhoseNoncesAreAlwaysStaleIsLeftAlone() async throws {
        server.route("/x", Self.challenge("nonce=\"n\", stale=true"))
        let responder = answer(with: right)
        #expect(await downloader.result(server.url("/x")).errorCode == 2002)
        #expect(server.requestCount == 6 && responder.asked.count > 0)
    }

    @Test func aRedirectWithinTheOriginUsesTheNonceAgain() async throws {
        server.route("/x") { request in
            request.headers["Authorization"] == nil
                ? Self.challenge("nonce=\"n\"") : .redirect(to: "/y?z")
        }
        server.route("/y", .ok(body))
        let responder = answer(with: right)
        #expect(try await downloader.result(server.url("/x")).get().originalData == body)
        #expect(server.requests.map { $0.digest["nc"] } == [nil, "00000001", "00000002"])
        #expect(server.requests[2].digest["uri"] == "/y?z" && responder.asked.count == 1)
        #expect(server.requests[1].digest["cnonce"] != server.requests[2].digest["cnonce"])
    }

    @Test func credentialsDoNotFollowARedirectToAnotherOrigin() async throws {
        let other = try await OriginServer.start()
        server.route(
            "/x",
            .redirect(to: other.url("/y").absoluteString).with(.basicAuthentication(right)))
        other.route("/y", .ok(body).with(.basicAuthentication(right)))
        let responder = answer { [right] challenge in
            challenge.protectionSpace.port == server.port
                ? (.useCredential, URLCredential(right)) : (.performDefaultHandling, nil)
        }
        #expect(await downloader.result(server.url("/x")).errorCode == 2002)
        #expect(responder.asked.events.map(\.space.port) == [server.port, other.port])
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
    }
}

extension URLCredential {
    fileprivate convenience init(_ credentials: Credentials) {
        self.init(user: credentials.user, password: credentials.password, persistence: .none)
    }
}

extension RecordedRequest {
    fileprivate var digest: [String: String] {
        HTTPChallenge.parse(headers["Authorization"] ?? "").first?.parameters ?? [:]
    }
}

private final class SilentResponder: AuthenticationChallengeResponsible {}

/// Answers challenges by a closure and writes them down.
private final class ScriptedResponder: AuthenticationChallengeResponsible {
    typealias Answer =
        @Sendable (URLAuthenticationChallenge) -> (
            URLSession.AuthChallengeDisposition, URLCredential?
        )

    struct Asked: Sendable {
        let space: URLProtectionSpace
        let failures: Int
        let status: Int?
    }

    let asked = Recorder<Asked>()
    private let answer: Answer

    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    func downloader(
        _ downloader: ImageDownloader, task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        asked.record(
            Asked(
                space: challenge.protectionSpace, failures: challenge.previousFailureCount,
                status: (challenge.failureResponse as? HTTPURLResponse)?.statusCode))
        return answer(challenge)
    }
}
