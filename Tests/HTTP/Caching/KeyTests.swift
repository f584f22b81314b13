import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("Keys of responses")
struct KeyTests {
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

    @Test("Partitions are apart, whatever their text")
    func partitions() throws {
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

    @Test("A normalizer that leaves nothing leaves the URL")
    func empty() throws {
        let url = try #require(URL(string: "http://o.test/a"))
        #expect(
            CacheKeyNormalizer.custom(identifier: "e") { _ in "" }.key(for: url)
                == "http://o.test/a")
    }

    @Test("Normalizers are equal by their identifiers")
    func identity() {
        #expect(
            CacheKeyNormalizer.removingQueryItems(["b", "A"]) == .removingQueryItems(["a", "B"]))
        #expect(CacheKeyNormalizer.removingQueryItems(["a,b"]) != .removingQueryItems(["a", "b"]))
        #expect(CacheKeyNormalizer.signedURLs != .removingQueryItems([]))
    }
}
