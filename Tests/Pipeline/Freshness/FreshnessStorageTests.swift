import Foundation
import HalcyonHTTP
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// What options that concern caches mean with HTTP caching, and what caches hold of responses.
@Suite struct FreshnessStorageTests {
    private let fixture: FreshnessFixture

    init() async throws { fixture = try await FreshnessFixture() }

    @Test func anOriginalHasRowAndLinkThoughTheImageIsInMemoryOnly() async throws {
        fixture.serve(8, tag: "\"1\"")
        let options: KingfisherOptionsInfo = [.cacheMemoryOnly, .cacheOriginalImage]
        _ = try await fixture.get(options + [.processor(CountingProcessor(identifier: "a"))])
        // The original is a copy for every processor.
        let second = CountingProcessor(identifier: "c")
        #expect(try await fixture.got(options + [.processor(second)]) == "3 fresh")
        #expect(try await fixture.cache.httpResponses().map(\.fileNames.count) == [1])
        #expect(fixture.cache.imageCachedType(forKey: fixture.url().cacheKey) == .disk)
        fixture.pass(100)
        fixture.cache.clearMemoryCache()
        let other = CountingProcessor(identifier: "b")
        #expect(try await fixture.got(options + [.processor(other)]) == "3 validated")
        #expect(other.runs.value == 1 && fixture.count == 2)
    }

    @Test(
        arguments: [[.cacheMemoryOnly], [.diskCacheExpiration(.expired)]] as [KingfisherOptionsInfo]
    )
    func whatIsInMemoryOnlyIsValidatedByItsRecord(_ options: KingfisherOptionsInfo) async throws {
        try await fixture.load(3, tag: "\"1\"", options)
        #expect(try await fixture.cache.httpResponses().isEmpty)
        #expect(try await fixture.got(options, after: 100) == "3 validated")
        #expect(try await fixture.cache.httpResponses().isEmpty)
        #expect(try fixture.cache.diskStorage.entries().isEmpty)
        // Fresh as it is, it is not kept any more.
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(options) == "3 fetched")
        #expect(fixture.lastCondition == nil)
    }

    @Test func whatIsNoLongerKeptIsNotValidated() async throws {
        let caches = try CacheFixture()
        // Both clocks show the same time.
        caches.clock.advance(100_000_000)
        let fixture = try await FreshnessFixture(in: caches.folder, cache: caches.cache)
        fixture.serve(3, "max-age=60", tag: "\"1\"")
        let options: KingfisherOptionsInfo = [
            .memoryCacheExpiration(.expired), .diskCacheExpiration(.seconds(50)),
        ]
        _ = try await fixture.get(options)
        fixture.pass(100)
        caches.clock.advance(100)
        #expect(try await fixture.got(options) == "3 fetched")
        #expect(fixture.count == 2 && fixture.lastCondition == nil)
    }

    @Test(
        arguments: [
            [.memoryCacheExpiration(.never), .diskCacheExpiration(.never)],
            [
                .memoryCacheAccessExtendingExpiration(.expirationTime(.days(30))),
                .diskCacheAccessExtendingExpiration(.expirationTime(.days(30))),
            ],
        ] as [KingfisherOptionsInfo])
    func whatIsKeptLongIsNotFreshForLong(_ keeping: KingfisherOptionsInfo) async throws {
        try await fixture.load(3, tag: "\"1\"", keeping)
        for clears in [false, true] {
            fixture.pass(25)
            if clears { fixture.cache.clearMemoryCache() }
            #expect(try await fixture.got(keeping) == "3 fresh")
        }
        #expect(try await fixture.got(keeping, after: 15) == "3 validated")
    }

    @Test func waitForCacheWaitsForFilesLinksAndRow() async throws {
        fixture.serve(8, tag: "\"1\"")
        _ = try await fixture.get([
            .processor(CountingProcessor()), .cacheOriginalImage, .waitForCache,
        ])
        // Another cache sees only what is written.
        let other = try ImageCache(name: "test", cacheDirectoryURL: fixture.folder.url)
        #expect(try await other.httpResponses().map(\.fileNames.count) == [2])
        _ = try await fixture.get([.processor(CountingProcessor()), .waitForCache], after: 100)
        #expect(try await other.httpResponses().map(\.received) == [fixture.clock.value])
    }

    @Test func ofTwoCachesEachHasItsRowOfTheSameGeneration() async throws {
        let originals = try ImageCache(name: "originals", cacheDirectoryURL: fixture.folder.url)
        let first = CountingProcessor(identifier: "a")
        let second = CountingProcessor(identifier: "b")
        fixture.serve(8, tag: "\"1\"")
        let options: KingfisherOptionsInfo = [.originalCache(originals)]
        let firstOptions = options + [.processor(first)]
        _ = try await fixture.get(firstOptions + [.cacheOriginalImage])
        func generations(_ cache: ImageCache) throws -> [Int64] {
            try cache.diskStorage.files.allResponses().map(\.row.generation)
        }
        #expect(try generations(fixture.cache).count == 1)
        #expect(try generations(fixture.cache) == generations(originals))
        // A validation is written to both.
        #expect(try await fixture.got(firstOptions, after: 100) == "3 validated")
        for cache in [fixture.cache, originals] {
            #expect(try await cache.httpResponses().map(\.received) == [fixture.clock.value])
        }
        // The original is a copy for every processor.
        #expect(try await fixture.got(options + [.processor(second)]) == "3 fresh")
        #expect(fixture.count == 2)
        // A new picture that is not stored as an original leaves no old one there.
        fixture.serve(6, tag: "\"2\"")
        #expect(try await fixture.got(firstOptions, after: 100) == "3 fetched")
        #expect(try await originals.httpResponses().isEmpty)
        #expect(try originals.diskStorage.entries().isEmpty)
    }

    @Test(arguments: [(404, []), (410, [.forceRefresh])] as [(Int, KingfisherOptionsInfo)])
    func whatIsMissingOnTheServerIsRemovedFromBothCaches(
        _ status: Int, _ more: KingfisherOptionsInfo
    ) async throws {
        let originals = try ImageCache(name: "originals", cacheDirectoryURL: fixture.folder.url)
        let options: KingfisherOptionsInfo = [
            .originalCache(originals), .processor(CountingProcessor()), .cacheOriginalImage,
        ]
        try await fixture.load(8, "max-age=600", tag: "\"1\"", options)
        fixture.origin.route("/a.png", .status(status))
        #expect(await fixture.errorCode(options + more, after: 1_000) == 2002)
        for cache in [fixture.cache, originals] {
            #expect(try await cache.httpResponses().isEmpty)
            #expect(try cache.diskStorage.entries().isEmpty)
        }
        #expect(await fixture.errorCode(options) == 2002)
        #expect(fixture.lastCondition == nil)
    }

    @Test func aForcedExtensionBelongsToTheFileAndNotToTheResponse() async throws {
        fixture.serve(3, "max-age=600", tag: "\"1\"")
        let forced: KingfisherOptionsInfo = [.forcedCacheFileExtension("jpg")]
        #expect(try await fixture.got(forced) == "3 fetched")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(forced) == "3 fresh")
        let files = try await fixture.cache.httpResponses().flatMap(\.fileNames)
        #expect(files.count == 1 && files[0].hasSuffix(".jpg"))
        // Without it there is no file; the response is the same one, and so are its bytes.
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got() == "3 fresh")
        #expect(fixture.count == 1)
        #expect(try await fixture.cache.httpResponses().map(\.fileNames.count) == [2])
    }

    @Test func whatASerializerWroteIsAsFreshAsTheResponse() async throws {
        fixture.serve(3, tag: "\"1\"")
        let options: KingfisherOptionsInfo = [.cacheSerializer(FormatIndicatedCacheSerializer.jpeg)]
        _ = try await fixture.get(options)
        let file = try #require(fixture.cache.cacheFileURLIfOnDisk(forKey: fixture.url().cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == .JPEG)
        for (seconds, use) in [(50.0, "fresh"), (50, "validated")] {
            fixture.pass(seconds)
            fixture.cache.clearMemoryCache()
            let result = try await fixture.get(options)
            #expect(result.cacheType == .disk)
            #expect("\(try #require(result.httpCacheUse))" == use)
        }
    }

    @Test func aNewPictureLeavesTheImagesOfOthers() async throws {
        fixture.serve(3, "max-age=6000", at: "/b.png")
        fixture.serve(3, tag: "\"1\"")
        for path in ["/a.png", "/b.png"] { _ = try await fixture.get(at: path) }
        fixture.serve(4, tag: "\"2\"")
        #expect(try await fixture.got(after: 100) == "4 fetched")
        #expect(try await fixture.got(at: "/b.png") == "3 fresh")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(at: "/b.png") == "3 fresh")
        #expect(fixture.origin.requestCount(for: "/b.png") == 1)
    }

    // MARK: Indexes

    @Test(arguments: [nil, Data("no database".utf8)])
    func withoutItsIndexAnImageIsOfUnknownOrigin(_ content: Data?) async throws {
        let first = try await FreshnessFixture()
        try await first.load(3, "max-age=6000", tag: "\"1\"")
        let folder = first.cache.diskStorage.directoryURL
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix(".index") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        try content?.write(to: folder.appending(path: ".index.sqlite"))
        let second = try await FreshnessFixture(in: first.folder)
        func got(_ caching: HTTPCaching) async throws -> RetrieveImageResult {
            try await second.manager.retrieveImage(
                with: first.url(), options: [.httpCaching(caching)])
        }
        let kept = try await got(.off)
        #expect(kept.cacheType == .disk && kept.image.pixelSize.width == 3)
        for use in ["fetched(stored: true)", "fresh"] {
            #expect("\(try #require(try await got(.on).httpCacheUse))" == use)
        }
        #expect(first.count == 2)
    }

    @Test func whereNothingCanBeWrittenTheRecordValidates() async throws {
        let folder = try TemporaryDirectory()
        let fixture = try await FreshnessFixture(in: folder, cache: folder.unwritableCache())
        fixture.serve(3, tag: "\"1\"")
        #expect(try await fixture.got() == "3 fetched")
        #expect(try await fixture.got() == "3 fresh")
        #expect(try await fixture.got(after: 100) == "3 validated")
        #expect(try await fixture.got() == "3 fresh")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got() == "3 fetched")
    }

    @Test func aFreshImageInMemoryNeedsNeitherIndexNorFile() async throws {
        fixture.serve(8, tag: "\"1\"")
        let options: [KingfisherOptionsInfo] = [
            [.processor(CountingProcessor())], [.processor(CountingProcessor(identifier: "b"))],
        ]
        for options in options { _ = try await fixture.get(options) }
        let files = fixture.cache.diskStorage.files
        let before = files.useCount
        #expect(before > 0)
        for _ in 0..<3 {
            for options in options { #expect(try await fixture.got(options) == "3 fresh") }
        }
        #expect(files.useCount == before && fixture.count == 2)
        // From the disk it does.
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(options[0]) == "3 fresh")
        #expect(files.useCount > before)
    }

    @Test(arguments: [nil, "Accept-Language"])
    func aModifierAndVaryAreDecidedOnByWhatIsInMemory(_ vary: String?) async throws {
        let picture = FreshnessFixture.picture(3, "max-age=600", tag: "\"1\"")
        fixture.origin.route("/a.png", vary.map { picture.header("Vary", $0) } ?? picture)
        let german: KingfisherOptionsInfo = [.requestModifier(setting(["Accept-Language": "de"]))]
        _ = try await fixture.get(german)
        let files = fixture.cache.diskStorage.files
        let before = files.useCount
        for _ in 0..<3 { #expect(try await fixture.got(german) == "3 fresh") }
        #expect(files.useCount == before)
        // Of another variant is not this image.
        let french = setting(["Accept-Language": "fr"])
        let use = vary == nil ? "3 fresh" : "3 fetched"
        #expect(try await fixture.got([.requestModifier(french)]) == use)
        #expect(try await fixture.got([.requestModifier(french)], after: 1_000) == "3 validated")
    }

    @Test func anAnswerUnderOtherSettingsMakesTheImageInMemoryFreshWithoutTheIndex() async throws {
        let fixture = try await FreshnessFixture.aged()
        let others = HTTPCaching.on.with { $0.staleIfError = .upTo(5) }
        #expect(try await fixture.got([.httpCaching(others)]) == "3 validated")
        let files = fixture.cache.diskStorage.files
        let before = files.useCount
        fixture.decisions.removeAll()
        #expect(try await fixture.got() == "3 fresh")
        #expect(fixture.decisions.events.map(\.message) == ["used: it is fresh in memory"])
        #expect(files.useCount == before)
    }

    @Test func aResponseThatIsOutOfUseIsNotMadeFreshByAnAnswerThatComesMeanwhile() throws {
        let policy = HTTPCachePolicy(.on)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let stored = StoredResponse(
            url: try #require(URL(string: "https://example.org/a.png")), status: 200,
            fields: ["Cache-Control": "max-age=600", "ETag": "\"1\""], requested: now,
            received: now)
        for _ in 0..<2_000 {
            let record = ResponseRecord(
                key: "a", generation: 1, stored: stored, body: nil, under: policy)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { record.freshen(stored, under: policy) } else { record.supersede() }
            }
            #expect(!record.usability.holds(at: now, under: .on))
        }
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a file system needs privileges"))
    func aPictureThatTheDiskHasNoRoomForIsDeliveredAndStaysInMemory() async throws {
        let folder = try TemporaryDirectory()
        let disk = try SmallDisk(at: folder.url, size: "512k")
        defer { disk.unmount() }
        let fixture = try await FreshnessFixture(in: folder)
        fixture.serve(3, "max-age=600", tag: "\"1\"")
        fixture.serve(4, "max-age=60", tag: "\"1\"", at: "/b.png")
        _ = try await fixture.get()
        // Neither a file nor a row can be written.
        let filler = try disk.fill()
        #expect(try await fixture.got(at: "/b.png") == "4 fetched")
        #expect(try await fixture.got(at: "/b.png") == "4 fresh")
        let stored = try await fixture.cache.httpResponses()
        #expect(stored.map(\.url) == [fixture.url()], "nothing is said of a file that is not there")
        #expect(try await fixture.got(at: "/b.png", after: 100) == "4 validated")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(at: "/b.png") == "4 fetched")
        try FileManager.default.removeItem(at: filler)
        fixture.pass(100)
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(at: "/b.png") == "4 fetched")
        #expect(try await fixture.cache.httpResponses().count == 2)
    }
}
