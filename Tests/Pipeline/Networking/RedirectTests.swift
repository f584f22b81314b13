import Foundation
import FoundationNetworking
import Testing

@testable import Halcyon

struct RedirectTests {
    private func redirect(
        _ request: URLRequest, _ status: Int, to location: String?
    ) throws -> URLRequest? {
        try request.redirected(
            by: HTTPURLResponse(
                url: request.url!, statusCode: status, httpVersion: "HTTP/1.1",
                headerFields: location.map { ["Location": $0] } ?? [:])!)
    }

    private let origin = URLRequest(url: URL(string: "https://a.example/dir/x?q=1")!)

    @Test(arguments: [
        ("/y", "https://a.example/y"), ("z", "https://a.example/dir/z"),
        ("//b.example/y", "https://b.example/y"), ("http://c.example/", "http://c.example/"),
        ("x/", "https://a.example/dir/x/"), ("/a b", "https://a.example/a%20b"),
        // As in the URL Standard.
        (" /y\t", "https://a.example/y"), ("/a\tb", "https://a.example/ab"),
        ("\\y\\z", "https://a.example/y/z"), ("\\\\b.example\\y", "https://b.example/y"),
        ("http:\\\\c.example\\", "http://c.example/"),
        ("http://b.example\\@127.0.0.1/", "http://b.example/@127.0.0.1/"),
        ("/y?a\\b#c\\d", "https://a.example/y?a%5Cb#c%5Cd"),
    ]) func resolvesLocations(location: String, target: String) throws {
        #expect(try redirect(origin, 302, to: location)?.url?.absoluteString == target)
    }

    @Test func isNoneWithoutARedirectStatusOrALocation() throws {
        #expect(try redirect(origin, 200, to: "/y") == nil)
        #expect(try redirect(origin, 304, to: "/y") == nil)
        #expect(try redirect(origin, 302, to: nil) == nil)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://a.example/x", "data:image/png;base64,AA"])
    func refusesOtherSchemes(location: String) {
        #expect(throws: ImageTransportError.redirectToUnsupportedScheme(location)) {
            try redirect(origin, 301, to: location)
        }
    }

    @Test(arguments: ["/a\u{1}b", "/a\u{7F}", "http://b.example\u{0}.c.example/"])
    func refusesControlCharacters(location: String) {
        #expect(throws: ImageTransportError.invalidRedirect(location)) {
            try redirect(origin, 301, to: location)
        }
    }

    @Test func credentialsStayWithTheirOrigin() throws {
        var request = origin
        let secrets = ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-AccessToken"]
        for field in secrets + ["X-Other"] { request.setValue("v", forHTTPHeaderField: field) }
        let same = try redirect(request, 302, to: "/y")
        #expect(secrets.allSatisfy { same?.value(forHTTPHeaderField: $0) == "v" })
        for target in ["https://b.example/", "http://a.example/", "https://a.example:8443/"] {
            let other = try redirect(request, 302, to: target)
            #expect(secrets.allSatisfy { other?.value(forHTTPHeaderField: $0) == nil })
            #expect(other?.value(forHTTPHeaderField: "X-Other") == "v")
        }
    }

    @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
    func aPostBecomesAGetUnlessTheStatusForbidsIt(status: Int, method: String) throws {
        var request = origin
        request.httpMethod = "POST"
        request.httpBody = Data([1])
        let next = try redirect(request, status, to: "/y")
        #expect(next?.httpMethod == method && (next?.httpBody != nil) == (method == "POST"))
    }
}
