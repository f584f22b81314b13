import Testing

@testable import HalcyonHTTP

struct HTTPChallengeTests {
    @Test func readsSchemesAndParametersOfSeveralChallenges() {
        let field = """
            Digest realm="a, \\"b\\" = c", qop="auth,auth-int" ,nonce = n0, stale=FALSE, \
            Basic realm=plain, charset="UTF-8", Negotiate, Other dG9rZW4=, , NTLM
            """
        #expect(
            HTTPChallenge.parse(field) == [
                HTTPChallenge(
                    scheme: "digest",
                    parameters: [
                        "realm": "a, \"b\" = c", "qop": "auth,auth-int", "nonce": "n0",
                        "stale": "FALSE",
                    ]),
                HTTPChallenge(scheme: "basic", parameters: ["realm": "plain", "charset": "UTF-8"]),
                HTTPChallenge(scheme: "negotiate"), HTTPChallenge(scheme: "other"),
                HTTPChallenge(scheme: "ntlm"),
            ])
    }

    @Test(arguments: ["", " , ,", "=", "\"", "Digest realm=\"open", "Basic =,="])
    func nonsenseIsSkipped(field: String) {
        #expect(HTTPChallenge.parse(field).allSatisfy { $0.parameters.isEmpty })
    }

    @Test func theFirstOfEqualParametersCounts() {
        #expect(HTTPChallenge.parse("Basic realm=a, REALM=b").first?.parameters == ["realm": "a"])
    }
}

struct DigestChallengeTests {
    private func challenge(_ field: String) throws -> DigestChallenge {
        try #require(HTTPChallenge.parse(field).first.flatMap(DigestChallenge.init))
    }

    /// The example of RFC 7616, section 3.9.1.
    private func example(_ algorithm: String) -> String {
        """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]) func answersTheExampleOfTheRFC(algorithm: String, response: String) throws {
        let answer = try challenge(example(algorithm)).answer(
            user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html",
            count: 1, clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        let parameters = try #require(HTTPChallenge.parse(answer).first?.parameters)
        #expect(parameters["response"] == response)
        #expect(parameters["nc"] == "00000001" && parameters["uri"] == "/dir/index.html")
        #expect(parameters["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
        #expect(parameters["username"] == "Mufasa" && parameters["algorithm"] == algorithm)
    }

    @Test(arguments: [
        "Digest realm=a, qop=auth", "Digest realm=a, nonce=b, qop=auth-int",
        "Digest realm=a, nonce=b, qop=auth, algorithm=SHA-1", "Basic realm=a",
    ]) func refusesWhatItCannotAnswer(field: String) throws {
        #expect(DigestChallenge(try #require(HTTPChallenge.parse(field).first)) == nil)
    }

    @Test func theUserNameIsHashedWhenTheServerAsksForThat() throws {
        let field = "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256, userhash=true"
        let answer = try challenge(field).answer(
            user: "user", password: "secret", method: "GET", target: "/", count: 255,
            clientNonce: "c")
        let parameters = try #require(HTTPChallenge.parse(answer).first?.parameters)
        #expect(parameters["username"] == DigestChallenge.Algorithm.sha256.hash("user:r"))
        #expect(parameters["userhash"] == "true" && parameters["nc"] == "000000ff")
    }
}
