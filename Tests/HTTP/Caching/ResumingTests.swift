import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

@Suite("Going on with downloads") struct ResumingTests {
    private let policy = HTTPCachePolicy.testing()
    private static let early = HTTPDateText.fixed(noon.addingTimeInterval(-60))

    private func partial(
        _ fields: HTTPFields = ["ETag": "\"a\""], request: HTTPFields = [:], status: Int = 200,
        length: Int64 = 50, total: Int64? = 100, _ policy: HTTPCachePolicy = .testing()
    ) -> PartialDownload? {
        policy.partial(
            of: .get(request), status: status, fields: fields, received: noon, length: length,
            total: total, minimumSize: 10, maximumSize: 1000)
    }

    @Test("Only a strong validator shows that bytes are the same") func validators() {
        func validator(_ fields: HTTPFields) -> ValidationCondition? {
            ValidationCondition(strong: fields, received: noon)
        }
        let now = HTTPDateText.fixed(noon)
        #expect(validator(["ETag": "\"a\""]) == .entityTag(EntityTag("\"a\"")))
        #expect(validator(["Last-Modified": Self.early, "Date": now]) == .lastModified(Self.early))
        #expect(validator(["Last-Modified": Self.early]) == nil, "no Date")
        #expect(validator(["Last-Modified": now, "Date": now]) == nil, "too young")
        for tag in ["W/\"a\"", "w/\"a\"", "a", "\"a", "\"a\"b\"", "\"a b\"", "\"\u{FFFD}\"", ""] {
            #expect(
                validator(["ETag": tag, "Last-Modified": Self.early, "Date": now]) == nil,
                "\(tag) rules the date out")
        }
    }

    @Test("A download that broke off is kept when it can be continued and may be kept")
    func keeping() {
        #expect(partial() != nil && partial(status: 206) != nil && partial(total: nil) != nil)
        #expect(partial(["ETag": "\"a\"", "Content-Encoding": "identity"]) != nil)
        #expect(partial(["ETag": "\"a\"", "Accept-Ranges": "bytes"]) != nil)
    }

    @Test(
        "Fields of an answer that forbid to go on",
        arguments: [
            "Content-Encoding": "gzip", "content-encoding": "identity, br",
            "Accept-Ranges": "None", "Cache-Control": "max-age=9, no-store",
        ])
    func forbidden(name: String, value: String) {
        #expect(partial(["ETag": "\"a\"", name: value]) == nil)
    }

    @Test("Requests, statuses and lengths that leave no partial") func notKept() {
        #expect(partial([:]) == nil && partial(request: ["Range": "bytes=0-"]) == nil)
        #expect(partial(request: ["If-None-Match": "\"b\""]) == nil)
        #expect(partial(request: ["Cache-Control": "no-store"]) == nil)
        #expect(partial(status: 404) == nil && partial(length: 9) == nil)
        #expect(partial(length: 100) == nil && partial(total: 1001) == nil)
        let shared = HTTPCachePolicy.testing(.shared)
        #expect(partial(["ETag": "\"a\"", "Cache-Control": "private"], shared) == nil)
        #expect(partial(request: ["Authorization": "x"], shared) == nil)
        #expect(partial(request: ["Authorization": "x"]) != nil)
    }

    @Test("The rest is asked for by range and validator, in the bytes as they are") func request() {
        #expect(
            partial()?.requestFields == [
                "Range": "bytes=50-", "If-Range": "\"a\"", "Accept-Encoding": "identity",
            ])
    }

    @Test("A 206 that goes on where the partial ends is accepted") func accepted() throws {
        let partial = try #require(self.partial(["ETag": "\"a\"", "Content-Type": "image/png"]))
        let whole = ResumedAnswer.append(count: 50, total: 100)
        #expect(partial.answer(status: 206, fields: ["Content-Range": "bytes 50-99/100"]) == whole)
        #expect(partial.answer(status: 206, fields: ["Content-Range": "BYTES 50-99/*"]) == whole)
        #expect(
            partial.answer(
                status: 206,
                fields: [
                    "Content-Range": "bytes 50-69/100", "Content-Length": "20", "ETag": "\"a\"",
                    "Content-Type": "Image/PNG; q=1", "Content-Encoding": "identity",
                ]) == .append(count: 20, total: 100))
        let unknown = try #require(self.partial(total: nil))
        #expect(unknown.answer(status: 206, fields: ["Content-Range": "bytes 50-99/100"]) == whole)
    }

    @Test(
        "A 206 that fails a check is not trusted",
        arguments: [
            [:], ["Content-Range": "bytes 50-99"],
            ["Content-Range": "bytes 50-99/100", "content-range": "bytes 50-99/100"],
            ["Content-Range": "bytes  50-99/100"], ["Content-Range": "bytes 50-49/100"],
            ["Content-Range": "bytes 50-100/100"],
            ["Content-Range": "bytes 50-99/99999999999999999999"],
            ["Content-Range": "items 50-99/100"], ["Content-Range": "bytes 0-99/100"],
            ["Content-Range": "bytes 51-99/100"], ["Content-Range": "bytes 50-99/101"],
            ["Content-Range": "bytes 50-100/*"],
            ["Content-Range": "bytes 50-99/100", "Content-Length": "49"],
            ["Content-Range": "bytes 50-99/100", "Content-Length": "+50"],
            ["Content-Range": "bytes 50-99/100", "ETag": "\"b\""],
            ["Content-Range": "bytes 50-99/100", "ETag": "W/\"a\""],
            ["Content-Range": "bytes 50-99/100", "Content-Encoding": "gzip"],
            ["Content-Range": "bytes 50-99/100", "Content-Type": "text/html"],
            ["Content-Range": "bytes 50-99/100", "Content-Type": "multipart/byteranges"],
        ] as [HTTPFields])
    func refused(fields: HTTPFields) throws {
        let partial = try #require(self.partial(["ETag": "\"a\"", "Content-Type": "image/png"]))
        #expect(partial.answer(status: 206, fields: fields) == .startOver)
    }

    @Test("Other answers end the partial, start over or leave it") func otherAnswers() throws {
        let partial = try #require(self.partial())
        func answer(_ status: Int, _ fields: HTTPFields = [:]) -> ResumedAnswer {
            partial.answer(status: status, fields: fields)
        }
        #expect(answer(206, ["Content-Range": "bytes 50-59/100"]) == .append(count: 10, total: 100))
        #expect(answer(206) == .startOver && answer(200) == .whole)
        for status in [304, 416] { #expect(answer(status) == .startOver) }
        for status in [404, 410] { #expect(answer(status) == .gone) }
        for status in [302, 401, 412, 429, 500, 503] { #expect(answer(status) == .unrelated) }
    }

    @Test("Without a total from either answer nothing shows that the picture is complete")
    func unknownTotal() throws {
        let partial = try #require(self.partial(total: nil))
        #expect(
            partial.answer(status: 206, fields: ["Content-Range": "bytes 50-99/*"])
                == .startOver)
    }

    @Test("A date as validator is confirmed by the same text, and by no tag")
    func dateAsValidator() throws {
        let fields: HTTPFields = ["Last-Modified": Self.early, "Date": HTTPDateText.fixed(noon)]
        let partial = try #require(self.partial(fields))
        #expect(partial.requestFields.first("If-Range") == Self.early)
        func check(_ more: HTTPFields) -> ResumedAnswer {
            var fields = more
            fields.append("Content-Range", "bytes 50-99/100")
            return partial.answer(status: 206, fields: fields)
        }
        #expect(check([:]) == .append(count: 50, total: 100))
        #expect(check(["Last-Modified": Self.early]) == .append(count: 50, total: 100))
        #expect(check(["Last-Modified": HTTPDateText.fixed(noon)]) == .startOver)
        #expect(check(["ETag": "\"a\""]) == .startOver)
    }

    @Test("The whole has the fields of its first answer, updated, and its full length")
    func completed() throws {
        let partial = try #require(
            self.partial([
                "ETag": "\"a\"", "A": "1", "B": "1", "Content-Length": "100",
                "Content-Type": "image/png",
            ]))
        let fields = partial.fields(completedBy: [
            "A": "2", "Content-Range": "bytes 50-99/100", "Content-Length": "50",
            "Content-Type": "image/PNG", "Connection": "close",
        ])
        #expect(
            fields == [
                "ETag": "\"a\"", "B": "1", "Content-Type": "image/png", "A": "2",
                "Content-Length": "100",
            ])
    }
}

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
