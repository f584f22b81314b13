import Foundation
import Testing

@testable import HalcyonHTTP

@Suite("304 and invalidation") struct FresheningTests {
    private let policy = HTTPCachePolicy.testing()
    private let later = noon.addingTimeInterval(100)

    private func freshen(
        _ stored: HTTPFields, with fields: HTTPFields, request: HTTPFields = [:],
        _ policy: HTTPCachePolicy = .testing()
    ) -> Freshening {
        var response = StoredResponse.at(noon: stored)
        response.isInvalidated = true
        return policy.freshen(
            response, with: fields, for: .get(request), requested: later.addingTimeInterval(-2),
            received: later)
    }

    private func kept(_ freshening: Freshening) -> StoredResponse? {
        if case .keep(let stored) = freshening { stored } else { nil }
    }

    @Test("A 304 makes the response fresh from now on") func fresh() throws {
        let stored = try #require(
            kept(
                freshen(
                    ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Age": "50", "Date": "x"],
                    with: ["ETag": "\"a\"", "Age": "3"])))
        #expect(!stored.isInvalidated && stored.received == later)
        #expect(policy.freshness(of: stored).initialAge == 5)
        #expect(policy.freshness(of: stored).isFresh(at: later.addingTimeInterval(54)))
    }

    @Test("Its fields replace those of their names, all others stay, and none of Date and Age")
    func merge() throws {
        let stored = try #require(
            kept(
                freshen(
                    [
                        "A": "1", "B": "1", "A": "2", "Age": "1", "Date": "x",
                        "Cache-Control": "public",
                    ],
                    with: ["a": "3", "Cache-Control": "max-age=9", "C": "4", "C": "5"])))
        #expect(
            stored.fields == ["B": "1", "a": "3", "Cache-Control": "max-age=9", "C": "4", "C": "5"])
    }

    @Test("Fields that describe the stored bytes stay as they are") func content() throws {
        let names = [
            "Content-Length", "Content-Encoding", "Content-Range", "Content-Type", "Content-MD5",
            "Content-Digest", "Repr-Digest", "Digest",
        ]
        let old = HTTPFields(names.map { .init(name: $0, value: "old") })
        let new = HTTPFields((names + ["Connection", "TE"]).map { .init(name: $0, value: "new") })
        #expect(kept(freshen(old, with: new))?.fields == old)
        let tagged = kept(freshen(["ETag": "\"a\""], with: ["ETag": "W/\"a\""]))
        #expect(tagged?.fields == ["ETag": "\"a\""])
    }

    @Test("Another tag, or another date where there is no tag, speaks of another representation")
    func mismatch() {
        #expect(freshen(["ETag": "\"a\""], with: ["ETag": "\"b\""]) == .mismatch)
        #expect(freshen(["ETag": "W/\"a\""], with: ["ETag": "\"b\""]) == .mismatch)
        #expect(freshen(["ETag": "W/\"a\""], with: ["ETag": "W/\"b\""]) == .mismatch)
        let dates: HTTPFields = ["Last-Modified": "y", "ETag": "\"a\""]
        #expect(freshen(["Last-Modified": "x"], with: dates) == .mismatch)
        #expect(freshen(["ETag": "*", "Last-Modified": "x"], with: dates) == .mismatch)
        #expect(freshen(["Last-Modified": "x"], with: ["Last-Modified": "y"]) == .mismatch)
        #expect(freshen(["ETag": "\"e\u{301}\""], with: ["ETag": "\"\u{E9}\""]) == .mismatch)
    }

    @Test("Without a validator that differs the 304 speaks of the one response asked about")
    func match() {
        for (stored, fields) in [
            (["ETag": "\"a\""], [:]), (["ETag": "\"a\""], ["Last-Modified": "y"]),
            (["ETag": "W/\"a\""], ["ETag": "W/\"a\""]), (["ETag": "\"a\""], ["ETag": "W/\"a\""]),
            (["ETag": "odd"], ["ETag": "odd"]), (["Last-Modified": "x"], ["Last-Modified": "x"]),
            // A server that makes its tag weak, or leaves it out, when it compresses.
            (["ETag": "W/\"a\""], ["ETag": "\"a\""]), (["Last-Modified": "x"], ["ETag": "\"a\""]),
            (["Last-Modified": "x"], ["ETag": "\"a\"", "Last-Modified": "x"]),
            (["ETag": "*", "Last-Modified": "x"], ["ETag": "*", "Last-Modified": "x"]),
        ] as [(HTTPFields, HTTPFields)] {
            #expect(kept(freshen(stored, with: fields)) != nil)
        }
    }

    @Test("A weak tag that a strong one has confirmed stays weak") func weakTagStays() throws {
        let stored = try #require(
            kept(freshen(["ETag": "W/\"a\""], with: ["ETag": "\"a\"", "A": "1"])))
        #expect(stored.fields == ["ETag": "W/\"a\"", "A": "1"])
        #expect(!stored.isInvalidated && stored.received == later)
    }

    @Test("A 304 that forbids storing is good for the request it answers, and no longer")
    func useOnce() {
        func refusal(_ fields: HTTPFields, _ policy: HTTPCachePolicy = .testing())
            -> StorageRefusal?
        {
            let freshening = freshen(["ETag": "\"a\"", "Vary": "X"], with: fields, policy)
            if case .useOnce(_, let refusal) = freshening { return refusal }
            return nil
        }
        #expect(refusal(["Cache-Control": "no-store"]) == .responseNoStore)
        #expect(refusal(["Vary": "*"]) == .varyAny)
        #expect(refusal(["Cache-Control": "private"], .testing(.shared)) == .privateToOneUser)
        let many = HTTPFields((0...200).map { .init(name: "x\($0)", value: "") })
        #expect(refusal(many) == .tooManyFields)
    }

    @Test("The variant becomes that of the present request") func variant() throws {
        let request: HTTPFields = ["Y": "1"]
        let stored = try #require(
            kept(freshen(["ETag": "\"a\"", "Vary": "X"], with: ["Vary": "Y"], request: request)))
        #expect(stored.vary == ["y"])
        #expect(policy.matches(stored, .get(request)) && !policy.matches(stored, .get(["Y": "2"])))
    }

    @Test("Handed out, a response carries its present age in whole seconds") func handedOut() {
        let stored = StoredResponse.at(noon: [
            "Age": "5", "Date": HTTPDateText.fixed(noon), "A": "1",
        ])
        let fields = policy.fields(of: stored, now: noon.addingTimeInterval(2.9))
        #expect(fields.values("age") == ["7"] && fields.first("Date") == HTTPDateText.fixed(noon))
        #expect(fields.first("A") == "1")
        #expect(policy.fields(of: stored, now: .distantFuture).first("Age") == "2147483648")
    }

    @Test("A change invalidates its URL and those of the same origin that its answer names")
    func invalidation() {
        var request = HTTPCacheRequest.get()
        request.method = "PUT"
        func urls(_ status: Int, _ fields: HTTPFields) -> [String] {
            policy.invalidations(after: request, status: status, fields: fields)
                .map(\.absoluteString)
        }
        let own = "http://origin.test/cat.png"
        #expect(urls(204, [:]) == [own])
        #expect(
            urls(201, ["Location": "/a", "Content-Location": "HTTP://ORIGIN.test:80/b"])
                == [own, "http://origin.test/a", "HTTP://ORIGIN.test:80/b"])
        #expect(
            urls(201, ["Location": "https://origin.test/a", "Content-Location": "//other.test/"])
                == [own])
        #expect(urls(404, ["Location": "/a"]) == [])
        request.method = "UNKNOWN"
        #expect(urls(200, [:]) == [own])
        for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
            request.method = method
            #expect(urls(200, ["Location": "/a"]) == [])
        }
    }
}
