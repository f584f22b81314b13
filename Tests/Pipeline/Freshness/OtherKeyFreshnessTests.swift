import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Images whose response is known already, under another key than that of the request.
@Suite struct OtherKeyFreshnessTests {
    private static let processing = KingfisherOptionsInfoItem.processor(
        ResizingImageProcessor(referenceSize: CGSize(width: 2, height: 2), mode: .none))

    private let fixture: FreshnessFixture

    init() async throws {
        fixture = try await FreshnessFixture()
        fixture.redirect(to: "/b.png")
        fixture.serve(3, "max-age=600", tag: "\"b\"", at: "/b.png")
    }

    /// Number of requests for the picture itself.
    private var loads: Int { fixture.origin.requestCount(for: "/b.png") }

    @Test(arguments: [true, false])
    func theTargetOfARedirectIsKnownWhenItIsAskedForItself(isInMemory: Bool) async throws {
        _ = try await fixture.get()
        if !isInMemory { fixture.cache.clearMemoryCache() }
        #expect(try await fixture.got(at: "/b.png") == "3 fresh")
        let key = fixture.url("/b.png").absoluteString
        if isInMemory {
            #expect(try await fixture.get(at: "/b.png").cacheType == .memory)
        } else {
            #expect(fixture.cache.diskStorage.isCached(forKey: key))
        }
        #expect(loads == 1 && fixture.count == 2)
    }

    @Test(
        arguments: [
            ("by a processor, in memory", [processing], true, [processing], "2 fresh"),
            ("by a processor, on the disk", [processing], false, [processing], "2 fresh"),
            ("an original to be processed", [], false, [processing], "2 fresh"),
            ("in memory alone", [.cacheMemoryOnly], true, [.cacheMemoryOnly], "3 fresh"),
        ] as [(String, KingfisherOptionsInfo, Bool, KingfisherOptionsInfo, String)])
    func otherImagesOfItAreKnownAsWell(
        _ what: String, first: KingfisherOptionsInfo, isInMemory: Bool,
        second: KingfisherOptionsInfo, use: String
    ) async throws {
        _ = try await fixture.get(first)
        if !isInMemory { fixture.cache.clearMemoryCache() }
        #expect(try await fixture.got(second, at: "/b.png") == use)
        #expect(loads == 1)
    }

    @Test func whatIsStaleIsValidatedWithoutLoadingIt() async throws {
        _ = try await fixture.get()
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got(at: "/b.png", after: 1000) == "3 validated")
        #expect(fixture.lastCondition == "\"b\"")
    }

    @Test func aForcedRefreshLoads() async throws {
        _ = try await fixture.get()
        #expect(try await fixture.got([.forceRefresh], at: "/b.png") == "3 fetched")
        #expect(loads == 2)
    }

    @Test func aLaterProcessKnowsItToo() async throws {
        _ = try await fixture.get()
        let cache = try ImageCache(name: "test", cacheDirectoryURL: fixture.folder.url)
        #expect(
            try await fixture.got([.targetCache(cache), .onlyFromCache], at: "/b.png") == "3 fresh")
        #expect(loads == 1)
    }

    @Test func aRedirectLeadsToWhatWasLoadedByItself() async throws {
        _ = try await fixture.get(at: "/b.png")
        fixture.cache.clearMemoryCache()
        #expect(try await fixture.got() == "3 validated")
        #expect(loads == 1)
    }

    @Test(arguments: [true, false])
    func otherSpellingsOfAURLAreThereOffline(inMemory: Bool) async throws {
        let fixture = try await FreshnessFixture()
        fixture.serve(3, "max-age=600")
        let port = fixture.origin.port
        func got(_ text: String, _ options: KingfisherOptionsInfo = []) async throws -> Int {
            let url = try #require(URL(string: text))
            return try await fixture.manager.retrieveImage(with: url, options: options)
                .image.pixelSize.width
        }
        #expect(try await got("http://localhost:\(port)/a.png") == 3)
        if !inMemory { fixture.cache.clearMemoryCache() }
        for text in [
            "http://LOCALHOST:\(port)/a.png", "HTTP://localhost:\(port)/a.png#x",
            "http://localhost:\(port)/%61%2epng", "http://localhost:\(port)/./b/../a.png",
        ] {
            #expect(try await got(text, [.onlyFromCache]) == 3)
            #expect(try await got(text) == 3)
        }
        #expect(fixture.count == 1)
    }

    @Test func ofAnotherGenerationNothingIsUsed() async throws {
        _ = try await fixture.get()
        fixture.pass(1000)
        fixture.serve(4, "max-age=600", tag: "\"c\"", at: "/b.png")
        #expect(try await fixture.got(at: "/b.png") == "4 fetched")
        #expect(try await fixture.got() == "4 validated")
        #expect(loads == 2)
    }
}
