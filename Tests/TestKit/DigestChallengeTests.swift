import Foundation
@testable import HalcyonTestKit
import NIOHTTP1
import Testing

/// The expected responses are the worked example of RFC 7616, section 3.9.1.
@Suite struct DigestChallengeTests {
    private func challenge(_ algorithm: DigestAlgorithm) -> DigestChallenge {
        DigestChallenge(
            credentials: Credentials(user: "Mufasa", password: "Circle of Life"),
            realm: "http-auth@example.org", algorithm: algorithm,
            nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v")
    }

    private func answer(_ algorithm: String, _ response: String) -> String {
        """
        Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", \
        algorithm=\(algorithm), nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, \
        response="\(response)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    }

    @Test(arguments: [
        (DigestAlgorithm.md5, "8ca523f5e9506fed4657c9700eebdbec"),
        (.sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func acceptsTheExampleOfTheStandard(algorithm: DigestAlgorithm, response: String) {
        let answer = answer(algorithm.rawValue, response)
        let challenge = challenge(algorithm)
        #expect(challenge.accepts(answer, method: "GET", target: "/dir/index.html"))
        #expect(!challenge.accepts(answer, method: "HEAD", target: "/dir/index.html"))
        #expect(!challenge.accepts(answer, method: "GET", target: "/other"))
    }

    @Test func refusesWhatProvesNothing() {
        let wrong = String(repeating: "0", count: 32)
        let challenge = challenge(.md5)
        for authorization in ["", "Digest", "Basic YTpi", answer("MD5", wrong)] {
            #expect(!challenge.accepts(authorization, method: "GET", target: "/dir/index.html"))
        }
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func letsInAClientThatAnswersTheChallenge(algorithm: DigestAlgorithm) async throws {
        let server = try await OriginServer.start()
        let credentials = Credentials(user: "ada", password: "secret")
        server.route(
            "/x",
            .ok(Data("in".utf8)).with(
                .digestAuthentication(credentials, realm: "r, s", algorithm: algorithm)))
        try await withClient { client in
            let denied = try await client.get(server.url("/x?y=1"))
            #expect(denied.status == 401)
            let header = try #require(denied.headers.first(name: "WWW-Authenticate"))
            let fields = DigestChallenge.parameters(header.dropFirst("Digest ".count))
            #expect(fields["realm"] == "r, s")
            #expect(fields["algorithm"] == algorithm.rawValue)
            let nonce = try #require(fields["nonce"])

            let user = algorithm.hash("ada:r, s:secret")
            let message = algorithm.hash("GET:/x?y=1")
            let response = algorithm.hash("\(user):\(nonce):00000001:abc:auth:\(message)")
            let authorization = """
                Digest username="ada", realm="r, s", nonce="\(nonce)", uri="/x?y=1", \
                algorithm=\(algorithm.rawValue), qop=auth, nc=00000001, cnonce="abc", \
                response="\(response)"
                """
            let granted = try await client.get(
                server.url("/x?y=1"), headers: [("Authorization", authorization)])
            #expect(granted.text == "in")
        }
        try await server.shutdown()
    }
}
