import Foundation
import FoundationNetworking
import HalcyonCluster
import Testing

/// Signatures of requests to S3, as Amazon's documentation shows them.
@Suite struct S3SignatureTests {
    private let signature = S3Signature(
        S3Keys(
            accessKey: "AKIAIOSFODNN7EXAMPLE",
            secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1")
    /// 2013-05-24 00:00:00 UTC.
    private let date = Date(timeIntervalSince1970: 1_369_353_600)

    private func authorization(
        _ url: String, method: String = "GET", _ fields: [String: String] = [:],
        content: String = "UNSIGNED-PAYLOAD", signing names: Set<String> = []
    ) throws -> String {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        signature.sign(&request, at: date, content: content, fields: names)
        #expect(request.value(forHTTPHeaderField: "x-amz-date") == "20130524T000000Z")
        return try #require(request.value(forHTTPHeaderField: "Authorization"))
    }

    @Test func aRequestForAnObjectIsSignedAsInTheDocumentation() throws {
        let found = try authorization(
            "https://examplebucket.s3.amazonaws.com/test.txt", ["Range": "bytes=0-9"],
            content: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            signing: ["range"])
        #expect(
            found == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func anObjectThatIsPutIsSignedWithItsMetadata() throws {
        let found = try authorization(
            "https://examplebucket.s3.amazonaws.com/test%24file.text", method: "PUT",
            [
                "Date": "Fri, 24 May 2013 00:00:00 GMT",
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
            ], content: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
            signing: ["date"])
        #expect(
            found.hasSuffix(
                "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
                    + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
    }

    /// The signature is that of Amazon's library for Python.
    @Test(
        arguments: [
            "a%2Bb%21c%27d%28e%29f%2Ag%2Ch%3Bi%3Dj%3Ak%40l%26m%24n~o/p%20q",
            "a+b!c'd(e)f*g,h;i=j:k@l&m$n~o/p%20q",
        ])
    func charactersOfAPathAreSignedEscaped(path: String) throws {
        #expect(
            try authorization("https://examplebucket.s3.amazonaws.com/" + path).hasSuffix(
                "Signature=b90ff28de8bda6d2bfdbb2ce02a645bb0ce2ee36381019686ecb036f2bcb4cef"))
    }

    @Test func thePortOfAStoreBelongsToItsHost() throws {
        let plain = try authorization("http://store/a")
        #expect(try authorization("http://store:80/a") == plain)
        #expect(try authorization("http://store:8333/a") != plain)
    }

    @Test func theKeyOfADayIsUsedForThatDayAlone() throws {
        func authorization(_ date: Date, _ known: S3Signature.DayKey?) throws -> String? {
            var request = URLRequest(url: try #require(URL(string: "http://store/a")))
            signature.sign(&request, at: date, known: known)
            return request.value(forHTTPHeaderField: "Authorization")
        }
        let today = signature.dayKey(at: date)
        #expect(signature.dayKey(at: date.addingTimeInterval(86_399), known: today) == today)
        let tomorrow = date.addingTimeInterval(86_400)
        #expect(signature.dayKey(at: tomorrow, known: today) != today)
        #expect(try authorization(date, today) == authorization(date, nil))
        #expect(try authorization(tomorrow, today) == authorization(tomorrow, nil))
        let others = S3Signature(S3Keys(accessKey: "a", secretKey: "s"), region: "us-east-1")
        #expect(others.dayKey(at: date, known: today) != today)
    }

    @Test func aTokenOfASessionIsSigned() throws {
        var request = URLRequest(
            url: try #require(URL(string: "https://examplebucket.s3.amazonaws.com/test.txt")))
        S3Signature(
            S3Keys(accessKey: "a", secretKey: "s", sessionToken: "token"), region: "us-east-1"
        ).sign(&request, at: date)
        #expect(request.value(forHTTPHeaderField: "x-amz-security-token") == "token")
        let authorization = request.value(forHTTPHeaderField: "Authorization") ?? ""
        #expect(authorization.contains("x-amz-date;x-amz-security-token,"))
    }
}
