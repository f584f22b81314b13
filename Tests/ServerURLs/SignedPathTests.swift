import HalcyonServerURLs
import Testing

/// Targets of requests, taken apart and repaired.
struct SignedPathTests {
    @Test(arguments: [
        ("/sig/plain/http://a.example/b.jpg", "/plain/http://a.example/b.jpg"),
        ("sig/plain/http://a.example/b.jpg", "/plain/http://a.example/b.jpg"),
        ("/sig/w:10/aGk?x=1&y=2", "/w:10/aGk"), ("/sig/w%3A10/h%3a20/aGk", "/w:10/h:20/aGk"),
        ("/sig/w%3A10/plain/http://a.example/x%3Ay", "/w:10/plain/http://a.example/x%3Ay"),
        ("/sig/plain/http:/a.example/b", "/plain/http://a.example/b"),
        ("/sig/plain/https:/a.example//b", "/plain/https://a.example//b"),
        ("/sig/plain/https://a.example/http:/b", "/plain/https://a.example/http:/b"),
        ("/sig/plain/local:/a.jpg", "/plain/local:///a.jpg"),
        ("/sig/plain/local:///a.jpg", "/plain/local:///a.jpg"),
        ("/sig/plain/s3:/bucket/key", "/plain/s3://bucket/key"),
        ("/sig/plain/a/b:/c", "/plain/a/b:/c"),
        ("/sig/explain/http:/a.example/b%3A", "/explain/http:/a.example/b:"),
        ("/sig//plain/http://a.example", "//plain/http://a.example"),
    ])
    func aTargetIsASignatureAndAPath(target: String, path: String) throws {
        let signed = try SignedPath(target: target)
        #expect(signed.signature == "sig" && signed.path == path)
    }

    @Test(arguments: ["", "/", "/sig", "/sig/", "//plain/http://a.example/b", "/sig?/plain/x"])
    func aTargetWithoutTwoPartsIsWrong(target: String) {
        let error = #expect(throws: PlanError.self) { try SignedPath(target: target) }
        #expect(error?.code == "invalid_path" && error?.status == 404)
    }

    @Test(arguments: ["/sig/plain/é", "/sig/plain/a b", "/sig/plain/a\u{0}", "/sig/plain/a\r\nb"])
    func rawCharactersOutsideOfURLsAreABadRequest(target: String) {
        let error = #expect(throws: PlanError.self) { try SignedPath(target: target) }
        #expect(error?.code == "bad_request" && error?.status == 400)
    }
}
