import Foundation
import HalcyonStorage
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What a cache tells of the responses that its images were made of.
@Suite struct ImageCacheResponsesTests {
    let folder: TemporaryDirectory
    let cache: ImageCache

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
    }

    /// Stores a file for `name`, made of the response of a URL.
    private func put(
        _ url: String, as name: String, key: String? = nil, variant: String = "",
        received: Double = 1_700_000_000, fields: String = #"[["ETag","\"a\""],["Age","7"]]"#
    ) throws {
        let files = cache.diskStorage.files
        let row = ResponseRow(
            key: key ?? url, variant: Data(variant.utf8), vary: "", url: url, status: 200,
            fields: Data(fields.utf8), requested: received, received: received,
            generation: 5, bodyLength: nil, bodyChecksum: nil, freshUntil: received + 53,
            isInvalidated: false, used: received)
        let file = try files.newFile(
            cache.diskStorage.cacheFileName(forKey: name), forKey: name, expiration: .never,
            overwriting: true,
            derivation: .response(
                key: row.key, variant: row.variant, generation: 5, isOriginal: true),
            response: ResponsePut(row: row)
        ) { Data(name.utf8) }
        try files.store(#require(file))
    }

    @Test func aResponseIsFoundByItsURLOrKey() async throws {
        try put("http://host/cat.jpg", as: "cat")
        try put("http://host/dog.jpg?signature=5", as: "dog", key: "dog")
        let cat = try #require(try await cache.httpResponse(forKey: "HTTP://HOST:80/cat.jpg#eye"))
        #expect(cat.url?.absoluteString == "http://host/cat.jpg")
        #expect(cat.key == "http://host/cat.jpg")
        #expect(cat.status == 200)
        #expect(cat.value(of: "etag") == "\"a\"")
        #expect(cat.value(of: "Date") == nil)
        #expect(cat.fields.map(\.name) == ["ETag", "Age"])
        #expect(cat.fileNames == [cache.diskStorage.cacheFileName(forKey: "cat")])
        let received = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(cat.received == received && cat.requested == received)
        #expect(cat.age(at: received.addingTimeInterval(3)) == 10)
        #expect(cat.isFresh(at: received.addingTimeInterval(52)))
        #expect(!cat.isFresh(at: received.addingTimeInterval(53)))
        #expect(!cat.isFresh(at: received.addingTimeInterval(-1)), "the clock is wrong")
        #expect(try await cache.httpResponse(forKey: "dog")?.value(of: "Age") == "7")
        #expect(try await cache.httpResponse(forKey: "http://host/cow.jpg") == nil)
        #expect(try await cache.httpResponses().count == 2)
    }

    @Test func ofSeveralVariantsTheLastIsTold() async throws {
        try put("http://host/cat", as: "cat", variant: "de")
        try put("http://host/cat", as: "cat@x", variant: "en", received: 1_700_000_005)
        let found = try await cache.httpResponse(forKey: "http://host/cat")
        #expect(found?.received.timeIntervalSince1970 == 1_700_000_005)
    }

    @Test func fieldsThatCannotBeReadAreNone() async throws {
        try put("http://host/cat", as: "cat", fields: "{")
        #expect(try await cache.httpResponse(forKey: "http://host/cat")?.fields == [])
    }

    @Test func responsesAreInvalidatedByURLOrKey() async throws {
        try put("http://host/cat", as: "cat")
        try put("http://host/dog", as: "dog", key: "dog")
        try put("http://host/cow", as: "cow", key: "anna\nhttp://host/cow")
        for (key, count) in [("http://HOST/cat", 1), ("dog", 1), ("http://host/hen", 0)] {
            #expect(try await cache.invalidateResponses(forKey: key) == count)
        }
        #expect(try await invalidated() == ["http://host/cat", "http://host/dog"])
        #expect(try await cache.invalidateResponses(forKey: "http://host/cow") == 1)
        #expect(try await invalidated().count == 3)
        let cat = try #require(try await cache.httpResponse(forKey: "http://host/cat"))
        #expect(!cat.isFresh(at: cat.received))
        #expect(cat.fileNames.count == 1, "the image stays")
    }

    @Test func responsesAreInvalidatedByPattern() async throws {
        try put("http://host/small/cat", as: "cat")
        try put("http://host/small/dog", as: "dog")
        try put("http://host/large/cat", as: "cat2", key: "large cat")
        #expect(try await cache.invalidateResponses(matching: "http://host/small/*") == 2)
        #expect(try await invalidated().count == 2)
        #expect(try await cache.invalidateResponses(matching: "large*") == 1)
        #expect(try await invalidated().count == 3)
    }

    private func invalidated() async throws -> Set<String> {
        Set(
            try await cache.httpResponses().filter(\.isInvalidated)
                .compactMap { $0.url?.absoluteString })
    }

    @Test(arguments: [
        ("", "", true), ("", "a", false), ("a", "a", true), ("a", "ab", false), ("*", "", true),
        ("*", "abc", true), ("a*", "abc", true), ("a*", "ba", false), ("*c", "abc", true),
        ("*c", "abcd", false), ("a*c", "abbc", true), ("a*c", "ac", true), ("ab*ba", "aba", false),
        ("a*b*c", "a.b.b.c", true), ("a*b*c", "a.c.b", false), ("**", "x", true),
        ("http://h/?a=*&b=[1]", "http://h/?a=5&b=[1]", true),
    ])
    func aStarStandsForAnyText(pattern: String, text: String, matches: Bool) {
        #expect(TextPattern(pattern).matches(text) == matches)
    }
}
