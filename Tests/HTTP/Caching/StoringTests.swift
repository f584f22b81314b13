import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

@Suite("Storing responses") struct StoringTests {
    private let `private` = HTTPCachePolicy.testing()
    private let shared = HTTPCachePolicy.testing(.shared)

    @Test("Only answers to GET are stored") func method() {
        for method in ["HEAD", "POST", "get", "PUT"] {
            var request = HTTPCacheRequest.get()
            request.method = method
            let storing = `private`.storing(["Cache-Control": "max-age=9"], to: request)
            #expect(storing.refusal == .method)
        }
    }

    @Test(
        "Interim answers, parts and 304 are not stored",
        arguments: [100, 103, 206, 304, 0, -1, 1000])
    func status(status: Int) {
        #expect(
            `private`.storing(["Cache-Control": "max-age=9"], status: status).refusal == .status)
    }

    @Test("no-store in request or response keeps the answer out") func noStore() {
        let request = HTTPCacheRequest.get(["Cache-Control": "no-store"])
        #expect(`private`.storing(["ETag": "\"a\""], to: request).refusal == .requestNoStore)
        #expect(
            `private`.storing(["Cache-Control": "max-age=9, no-store"]).refusal == .responseNoStore)
    }

    @Test("must-understand overrides no-store for a status that is understood")
    func mustUnderstand() {
        let fields: HTTPFields = ["Cache-Control": "max-age=9, no-store, must-understand"]
        #expect(`private`.storing(fields).stored != nil)
        #expect(`private`.storing(fields, status: 299).refusal == .notUnderstood)
    }

    @Test("private keeps the answer out of a shared cache, and lets it into a private one")
    func privateDirective() {
        let fields: HTTPFields = ["Cache-Control": "private, max-age=9"]
        #expect(shared.storing(fields).refusal == .privateToOneUser)
        #expect(`private`.storing(fields).stored != nil)
        #expect(`private`.storing(["Cache-Control": "private"], status: 302).stored != nil)
        let limited: HTTPFields = ["Cache-Control": "private=\"a\""]
        #expect(`private`.storing(limited, status: 302).stored != nil)
        #expect(shared.storing(limited, status: 302).refusal == .notPermitted)
    }

    @Test("A shared cache keeps the answer to a request with Authorization only when it may")
    func authorization() {
        let request = HTTPCacheRequest.get(["Authorization": "Basic eA=="])
        #expect(
            shared.storing(["Cache-Control": "max-age=9"], to: request).refusal == .authorization)
        #expect(`private`.storing(["Cache-Control": "max-age=9"], to: request).stored != nil)
        for directive in ["public", "must-revalidate", "s-maxage=9"] {
            let fields: HTTPFields = ["Cache-Control": "max-age=9, \(directive)"]
            #expect(shared.storing(fields, to: request).stored != nil)
        }
    }

    @Test("What varies by everything, or by too much, is not stored") func vary() {
        #expect(`private`.storing(["Vary": "Accept, *"]).refusal == .varyAny)
        let names = (0...32).map { "n\($0)" }
        #expect(
            `private`.storing(["Vary": names.joined(separator: ",")]).refusal == .tooManyVaryNames)
        #expect(
            `private`.storing(["Vary": names.dropLast().joined(separator: ",")]).stored?.vary.count
                == 32)
    }

    @Test("A status that is not cacheable by itself needs the server's word") func permission() {
        #expect(`private`.storing([:], status: 302).refusal == .notPermitted)
        for fields in [
            ["Cache-Control": "max-age=x"], ["Expires": "x"], ["Cache-Control": "public"],
        ] as [HTTPFields] {
            #expect(`private`.storing(fields, status: 302).stored != nil)
        }
        #expect(`private`.storing(["Cache-Control": "s-maxage=9"], status: 302).stored == nil)
        #expect(shared.storing(["Cache-Control": "s-maxage=9"], status: 302).stored != nil)
    }

    @Test("What could never be used is not stored") func useless() {
        let forbidding: HTTPFields = ["Cache-Control": "max-age=0, must-revalidate"]
        #expect(`private`.storing(forbidding).refusal == .useless)
        #expect(`private`.storing(["Cache-Control": "no-cache"]).refusal == .useless)
        #expect(`private`.storing(["Cache-Control": "max-age=0"]).stored != nil)
        let nothingStale = HTTPCachePolicy.testing(.shared) {
            $0.staleWhenUnreachable = false
            $0.staleIfError = .never
            $0.staleWhileRevalidate = .never
        }
        #expect(nothingStale.storing([:]).refusal == .useless)
        #expect(nothingStale.storing([:], status: 404).stored != nil, "an error is remembered")
        var tagged = forbidding
        tagged.append("ETag", "\"a\"")
        #expect(`private`.storing(tagged).stored != nil)
    }

    @Test("More fields than anybody sends are not stored") func tooManyFields() {
        let lines = (0...200).map { HTTPFields.Line(name: "x\($0)", value: "") }
        #expect(`private`.storing(HTTPFields(lines)).refusal == .tooManyFields)
        let long = String(repeating: "x", count: 64 << 10)
        #expect(`private`.storing(["X": long]).refusal == .tooManyFields)
    }

    @Test("A URL over 32 KiB is loaded and not stored") func longURL() {
        var request = HTTPCacheRequest.get()
        request.url = URL(string: "http://origin.test/" + String(repeating: "x", count: 32 << 10))!
        #expect(`private`.storing(["ETag": "\"a\""], to: request).refusal == .urlTooLong)
    }

    @Test("Fields of the connection and those it names are not stored, all others in their order")
    func fields() {
        let stored = `private`.storing([
            "B": "1", "Connection": "close, X-Hop", "x-hop": "1", "Transfer-Encoding": "chunked",
            "Set-Cookie": "a", "Keep-Alive": "1", "Set-Cookie": "b", "Content-Length": "3",
        ]).stored
        #expect(
            stored?.fields == [
                "B": "1", "Set-Cookie": "a", "Set-Cookie": "b", "Content-Length": "3",
            ])
    }

    @Test(
        "No field of the connection is stored",
        arguments: [
            "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate",
            "Proxy-Authentication-Info", "Proxy-Authorization", "TE", "Trailer",
            "Transfer-Encoding", "Upgrade",
        ])
    func ofConnection(name: String) {
        for name in [name, name.lowercased()] {
            let fields = HTTPFields([
                .init(name: "A", value: "1"), .init(name: name, value: "x"),
                .init(name: "B", value: "2"),
            ])
            for policy in [`private`, shared] {
                #expect(policy.storing(fields).stored?.fields == ["A": "1", "B": "2"])
            }
        }
    }

    @Test("Fields named by a qualified no-cache, and when shared by a private, are not stored")
    func qualified() {
        let fields: HTTPFields = [
            "Cache-Control": "max-age=9, no-cache=\"a\", private=\"b\"", "A": "1", "B": "1",
        ]
        #expect(`private`.storing(fields).stored?.fields.contains("A") == false)
        #expect(`private`.storing(fields).stored?.fields.contains("B") == true)
        #expect(shared.storing(fields).stored?.fields.contains("B") == false)
    }

    @Test("No server can take away the fields that the rules rest on") func protectedFields() {
        let fields: HTTPFields = [
            "Cache-Control": "max-age=9, must-revalidate, no-cache=\"vary, etag\"",
            "Connection": "cache-control, vary", "Vary": "Cookie", "ETag": "\"a\"",
        ]
        let stored = `private`.storing(fields).stored
        for name in ["Cache-Control", "Vary", "ETag"] {
            #expect(stored?.fields.contains(name) == true)
        }
        let targeted = HTTPCachePolicy.testing(.shared) {
            $0.targetedFields = ["CDN-Cache-Control"]
        }
        let target: HTTPFields = [
            "CDN-Cache-Control": "max-age=9", "Connection": "cdn-cache-control",
        ]
        #expect(targeted.storing(target).stored?.fields.contains("CDN-Cache-Control") == true)
    }

    @Test("An answer that was overtaken is told by its Date, else by the time of its request")
    func overtaken() {
        let early = HTTPDateText.fixed(noon), late = HTTPDateText.fixed(noon.addingTimeInterval(1))
        let first = StoredResponse.at(noon: ["Date": early])
        var second = StoredResponse.at(noon: ["Date": late])
        second.requested = noon.addingTimeInterval(-9)
        #expect(second.isAtLeastAsNew(as: first))
        #expect(!first.isAtLeastAsNew(as: second))
        second.fields.set("Date", to: early)
        #expect(!second.isAtLeastAsNew(as: first))
        #expect(first.isAtLeastAsNew(as: first))
    }

    @Test("Fields are written as a list of pairs and read back") func coding() throws {
        let fields: HTTPFields = ["B": "1", "a": "\u{FFFD}", "B": "2"]
        let data = try JSONEncoder().encode(fields)
        #expect(String(decoding: data, as: UTF8.self).hasPrefix("[[\"B\",\"1\"]"))
        #expect(try JSONDecoder().decode(HTTPFields.self, from: data) == fields)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(HTTPFields.self, from: Data("[[\"a\"]]".utf8))
        }
    }
}

@Suite("Keys of responses") struct KeyTests {
    @Test(
        "URLs that are equal by their syntax have one key",
        arguments: [
            ("HTTP://Origin.TEST", "http://origin.test/"),
            ("http://origin.test:80/a", "http://origin.test/a"),
            ("https://origin.test:443?x", "https://origin.test/?x"),
            ("https://origin.test:80/a", "https://origin.test:80/a"),
            ("http://origin.test/a#b?c", "http://origin.test/a"),
            ("http://origin.test/%e4%2F?q=%c3%A4z", "http://origin.test/%E4%2F?q=%C3%A4z"),
            ("http://User@Origin.test/", "http://User@origin.test/"),
            ("http://%75%3A@%4Frigin.test/", "http://u%3A@origin.test/"),
            ("http://origin.test/%7Ea%2D%2e%5f?%7e%41%2f", "http://origin.test/~a-._?~A%2F"),
            ("http://origin.test/a/./b/../c", "http://origin.test/a/c"),
            ("http://origin.test/a/%2E/b/%2e%2e", "http://origin.test/a/"),
            ("http://origin.test/../..a/.b?/./c", "http://origin.test/..a/.b?/./c"),
            ("http://origin.test/%257E", "http://origin.test/%257E"),
            ("http://[::1]:80/", "http://[::1]/"),
            ("http://origin.test/?b=2&a=1", "http://origin.test/?b=2&a=1"),
        ])
    func normalized(text: String, key: String) throws {
        let url = try #require(URL(string: text))
        #expect(ResponseKey.key(url: url) == key)
    }

    @Test("A key given explicitly comes before a normalizer, and that before the URL")
    func order() throws {
        let url = try #require(URL(string: "http://origin.test/a?token=1"))
        let normalizer = CacheKeyNormalizer.custom(identifier: "n") { _ in "normal" }
        #expect(ResponseKey.key(resourceKey: "k", url: url, normalizer: normalizer) == "k")
        #expect(ResponseKey.key(url: url, normalizer: normalizer) == "normal")
        #expect(ResponseKey.key(url: url) == "http://origin.test/a?token=1")
    }

    @Test("Partitions are apart, whatever their text") func partitions() throws {
        let url = try #require(URL(string: "http://origin.test/"))
        #expect(ResponseKey.key(url: url, partition: "anna") == "anna\nhttp://origin.test/")
        #expect(
            ResponseKey.key(resourceKey: "b\nc", url: url, partition: "a")
                != ResponseKey.key(resourceKey: "c", url: url, partition: "a\nb"))
        #expect(
            ResponseKey.key(url: url, partition: "a%0A")
                != ResponseKey.key(url: url, partition: "a\n"))
    }

    @Test("Query items are left out by name, and the others keep their order")
    func removing() throws {
        let normalizer = CacheKeyNormalizer.removingQueryItems(["sig", "Exp"])
        func key(_ text: String) throws -> String {
            normalizer.key(for: try #require(URL(string: text)))
        }
        #expect(try key("http://o.test/a?b=2&SIG=x&a=1&exp=3") == "http://o.test/a?b=2&a=1")
        #expect(try key("http://o.test/a?sig&exp=") == "http://o.test/a")
        #expect(try key("http://o.test/a?s%69g=1#f") == "http://o.test/a#f")
        #expect(try key("http://o.test/a?b=sig") == "http://o.test/a?b=sig")
        #expect(try key("http://o.test/a#?sig=1") == "http://o.test/a#?sig=1")
    }

    @Test(
        "Signatures and what belongs to them are no part of a picture",
        arguments: [
            "X-Amz-Algorithm=a&w=1&X-Amz-Signature=b&x-amz-date=c",
            "X-Goog-Signature=b&w=1&X-Goog-Expires=1",
            "w=1&Expires=1&Signature=b&Key-Pair-Id=c", "w=1&Policy=1&Signature=b&Key-Pair-Id=c",
            "AWSAccessKeyId=a&Expires=1&w=1&Signature=x",
            "GoogleAccessId=a&Expires=1&Signature=x&w=1",
            "sv=1&st=2&se=3&sr=b&sp=r&spr=https&w=1&sig=x&skoid=1&sktid=1&skt=1&ske=1&sks=b&skv=1",
        ])
    func signed(query: String) throws {
        let url = try #require(URL(string: "http://o.test/a?" + query))
        #expect(CacheKeyNormalizer.signedURLs.key(for: url) == "http://o.test/a?w=1")
    }

    @Test(
        "Common names without a signature are left alone",
        arguments: ["sv=2", "token=1", "Expires=1&Policy=2", "se=1&sp=2", "signatures=1"])
    func unsigned(query: String) throws {
        let url = try #require(URL(string: "http://o.test/a?" + query))
        #expect(CacheKeyNormalizer.signedURLs.key(for: url) == url.absoluteString)
    }

    @Test("A normalizer that leaves nothing leaves the URL") func empty() throws {
        let url = try #require(URL(string: "http://o.test/a"))
        #expect(
            CacheKeyNormalizer.custom(identifier: "e") { _ in "" }.key(for: url)
                == "http://o.test/a")
    }

    @Test("Normalizers are equal by their identifiers") func identity() {
        #expect(
            CacheKeyNormalizer.removingQueryItems(["b", "A"]) == .removingQueryItems(["a", "B"]))
        #expect(CacheKeyNormalizer.removingQueryItems(["a,b"]) != .removingQueryItems(["a", "b"]))
        #expect(CacheKeyNormalizer.signedURLs != .removingQueryItems([]))
    }
}
