import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct FreshImageTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    @Test func withoutHTTPCachingNothingChanges() async throws {
        let fixture = try await FreshnessFixture(.off)
        fixture.serve(3, "no-store", tag: "\"1\"")
        #expect(try await fixture.got() == "3 -")
        #expect(try await fixture.got(after: 1_000_000) == "3 -")
        #expect(fixture.count == 1)
    }

    @Test func aNewPictureTakesThePlaceOfAllThatWasMadeOfTheOldOne() async throws {
        let processor = CountingProcessor()
        let file = fixture.cache.cachePath(
            forKey: fixture.url().cacheKey, processorIdentifier: processor.identifier)
        fixture.serve(8, tag: "\"1\"")
        #expect(try await fixture.got() == "8 fetched")
        #expect(try await fixture.got([.processor(processor)]) == "3 fresh")
        #expect(processor.runs.value == 1)
        #expect(FileManager.default.fileExists(atPath: file))
        fixture.serve(6, tag: "\"2\"")
        #expect(try await fixture.got(after: 100) == "6 fetched")
        #expect(!FileManager.default.fileExists(atPath: file))
        // Made anew, of the new picture.
        #expect(try await fixture.got([.processor(processor)]) == "3 fresh")
        #expect(processor.runs.value == 2 && fixture.count == 2)
    }

    @Test func a304ForOneProcessorMakesTheImagesOfOthersFreshAgain() async throws {
        let processors = (2...4).map { CountingProcessor(identifier: "test.\($0)") }
        fixture.serve(8, tag: "\"1\"")
        for processor in processors { _ = try await fixture.get([.processor(processor)]) }
        fixture.pass(100)
        fixture.origin.forgetTraffic()
        #expect(try await fixture.got([.processor(processors[0])]) == "3 validated")
        #expect(try await fixture.got([.processor(processors[1])]) == "3 fresh")
        #expect(try await fixture.got([.processor(processors[2])]) == "3 fresh")
        #expect(fixture.count == 1 && processors.map(\.runs.value) == [1, 1, 1])
    }

    @Test func theSameBytesInA200KeepTheGeneration() async throws {
        let processor = CountingProcessor()
        fixture.serve(8)
        #expect(try await fixture.got([.processor(processor)]) == "3 fetched")
        #expect(try await fixture.got([.processor(processor)], after: 100) == "3 fetched")
        #expect(processor.runs.value == 1)
        #expect(try await fixture.got([.processor(processor)]) == "3 fresh")
        #expect(fixture.count == 2)
    }

    @Test func withoutTheWantedImageAndTheOriginalTheRequestIsUnconditional() async throws {
        try await fixture.load(8, tag: "\"1\"", [.processor(CountingProcessor(identifier: "a"))])
        _ = try await fixture.get([.processor(CountingProcessor(identifier: "b"))], after: 100)
        #expect(fixture.lastCondition == nil)
        // Of the same generation, so that the first one is fresh again.
        #expect(
            try await fixture.got([.processor(CountingProcessor(identifier: "a"))]) == "3 fresh")
    }

    @Test func anImageThatMustNotBeStoredIsDeliveredToNobodyLater() async throws {
        fixture.serve(3, "no-store")
        #expect(try await fixture.got() == "3 fetched, unstored")
        #expect(try await fixture.got() == "3 fetched, unstored")
        #expect(fixture.cache.imageCachedType(forKey: fixture.url().cacheKey) == .none)
        #expect(fixture.count == 2)
    }

    @Test func aPageInPlaceOfThePictureLeavesTheStoredOne() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.origin.route("/a.png", .html())
        #expect(await fixture.errorCode() == 4001)
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 validated")
    }

    @Test func aStaleImageIsDeliveredWhenTheServerCannotBeReached() async throws {
        let fixture = try await FreshnessFixture.aged()
        fixture.serve(3, tag: "\"1\"", [.abort(.reset)])
        #expect(try await fixture.got() == "3 stale error")
        let asked = fixture.count
        #expect(try await fixture.got() == "3 stale error")
        #expect(fixture.count == asked, "the server is left alone for a while")
        fixture.pass(6)
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 validated")
    }

    @Test(arguments: [
        ("max-age=60", 500, false), ("max-age=60, stale-if-error=100", 503, true),
        ("max-age=60, stale-if-error=10", 503, false),
        ("max-age=60, must-revalidate", 503, false), ("max-age=60", 403, false),
    ])
    func errorsOfTheServerAreAnsweredWithAStaleImageWhereTheResponseAllowsIt(
        _ words: String, _ status: Int, _ isStale: Bool
    ) async throws {
        let fixture = try await FreshnessFixture.aged(words)
        fixture.origin.route("/a.png", .status(status))
        if isStale {
            #expect(try await fixture.got() == "3 stale error")
        } else {
            #expect(await fixture.errorCode() == 2002)
            fixture.serve(3, words, tag: "\"1\"")
            #expect(try await fixture.got() == "3 validated")
        }
    }

    @Test(arguments: [[], [.onlyFromCache]] as [KingfisherOptionsInfo])
    func anImageStoredByTheProgramIsValidWhateverTheServerSays(
        _ options: KingfisherOptionsInfo
    ) async throws {
        fixture.serve(3)
        try await fixture.store(7)
        #expect(try await fixture.got(options, after: 1_000) == "7 fresh")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(options) == "7 fresh")
        #expect(fixture.count == 0)
    }

    @Test func anImageOfUnknownOriginIsLoadedAnew() async throws {
        try await fixture.load(3, tag: nil, [.httpCaching(.off)])
        #expect(try await fixture.got() == "3 fetched")
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func whatAnotherCacheAtTheFolderHasLearntIsUsedAfterARestart() async throws {
        let first = try await FreshnessFixture()
        try await first.load(3, tag: "\"1\"")
        let second = try await FreshnessFixture(in: first.folder)
        let url = first.origin.url("/a.png")
        second.pass(30)
        let hit = try await second.manager.retrieveImage(with: url)
        #expect("\(try #require(hit.httpCacheUse))" == "fresh" && hit.cacheType == .disk)
        // One validates, and the other has no need to.
        second.pass(70)
        first.pass(100)
        _ = try await second.manager.retrieveImage(with: url)
        let before = first.count
        #expect(try await first.got() == "3 fresh")
        #expect(first.count == before)
    }

    @Test func aServerThatWantsToBeLeftAloneIsWhileThereIsAStaleImage() async throws {
        let fixture = try await FreshnessFixture.aged("max-age=60, stale-if-error=6000")
        fixture.origin.route("/other.png", .status(503).header("Retry-After", "120"))
        #expect(await fixture.errorCode(at: "/other.png") == 2002)
        #expect(try await fixture.got() == "3 stale error")
        #expect(fixture.origin.requestCount(for: "/a.png") == 1)
        #expect(try await fixture.got(after: 121) == "3 validated")
    }

    @Test func anAnswerThatWasOvertakenIsDeliveredAndNotStored() async throws {
        let gate = Gate()
        let (old, new) = (FreshnessFixture.picture(3), FreshnessFixture.picture(4))
        fixture.origin.route(
            "/a.png",
            sequence: [
                old.header("Date", "Fri, 15 Jan 2027 07:00:00 GMT").with(.wait(.gate(gate))),
                new.header("Date", "Fri, 15 Jan 2027 07:30:00 GMT"),
            ])
        async let slow = fixture.got()
        await fixture.origin.waitForRequests(1)
        #expect(try await fixture.got([.forceRefresh]) == "4 fetched")
        gate.open()
        #expect(try await slow == "3 fetched, unstored")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got([.onlyFromCache]).hasPrefix("4"))
    }

    @Test func responsesCanBeInvalidatedInMemoryAndOnDisk() async throws {
        try await fixture.load(3, "max-age=6000", tag: "\"1\"")
        let url = fixture.url().absoluteString
        #expect(try await fixture.cache.invalidateResponses(forKey: url) == 1)
        #expect(try await fixture.got() == "3 validated")
        #expect(try await fixture.cache.invalidateResponses(matching: "*/a.*") == 1)
        #expect(try await fixture.got() == "3 validated")
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func secretsInAddressesDoNotReachTheIndex() async throws {
        fixture.serve(3, "max-age=600")
        #expect(try await fixture.got(at: "/a.png?token=geheim") == "3 fetched")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(at: "/a.png?token=geheim") == "3 fresh")
        #expect(try await fixture.got(at: "/a.png?token=anders") == "3 fetched")
        #expect(try !fixture.hasWritten("geheim"))
    }
}
