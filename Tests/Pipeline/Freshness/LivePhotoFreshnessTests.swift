import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The files of live photos are as good as their server says, though nothing is decoded of them.
@Suite struct LivePhotoFreshnessTests {
    private let still = LivePhotoResourceTests.isoMedia("heic")
    private let film = LivePhotoResourceTests.isoMedia("qt  ")
    private let newFilm = LivePhotoResourceTests.isoMedia("qt  ") + Data("later".utf8)
    private let fixture: FreshnessFixture
    private let source: LivePhotoSource

    init() async throws {
        fixture = try await FreshnessFixture()
        source = LivePhotoSource(urls: [fixture.url("/p.heic"), fixture.url("/p.mov")])
        serve(still, at: "/p.heic", tag: "\"s\"", "max-age=1000")
        serve(film, at: "/p.mov", tag: "\"1\"", "max-age=60")
    }

    private func serve(_ data: Data, at path: String, tag: String, _ cacheControl: String) {
        fixture.origin.route(
            path, .ok(data).header("Cache-Control", cacheControl).with(.entityTag(tag)))
    }

    private func get(_ options: KingfisherOptionsInfo = []) async throws
        -> LivePhotoLoadingInfoResult
    {
        try await fixture.manager.retrieveLivePhoto(with: source, options: options)
    }

    private func contents(_ result: LivePhotoLoadingInfoResult) throws -> [Data] {
        try result.fileURLs.map { try Data(contentsOf: $0) }
    }

    @Test func freshFilesAreNotAskedFor() async throws {
        let first = try await get()
        #expect(first.cacheType == .none && first.data() == [still, film])
        #expect(try contents(first) == [still, film])
        #expect(first.fileURLs.map(\.pathExtension) == ["heic", "mov"])
        fixture.pass(59)
        let second = try await get()
        #expect(second.cacheType == .disk && second.data().isEmpty)
        #expect(second.fileURLs == first.fileURLs && fixture.count == 2)
    }

    @Test func aStaleFileIsValidatedAndTheOtherLeftAlone() async throws {
        let first = try await get()
        fixture.pass(100)
        let second = try await get()
        #expect(second.cacheType == .disk && second.fileURLs == first.fileURLs)
        #expect(fixture.count == 3 && fixture.lastCondition == "\"1\"")
        _ = try await get()
        #expect(fixture.count == 3)
    }

    @Test func aChangedFileIsLoadedAndWritten() async throws {
        _ = try await get()
        fixture.pass(100)
        serve(newFilm, at: "/p.mov", tag: "\"2\"", "max-age=60")
        let second = try await get()
        #expect(second.cacheType == .none && second.data() == [newFilm])
        #expect(try contents(second) == [still, newFilm])
    }

    @Test func aStaleFileIsDeliveredAndRenewedInTheBackground() async throws {
        serve(film, at: "/p.mov", tag: "\"1\"", "max-age=60, stale-while-revalidate=600")
        _ = try await get()
        fixture.pass(100)
        serve(newFilm, at: "/p.mov", tag: "\"2\"", "max-age=60")
        let findings = Recorder<String>()
        let stale = try await get([
            .onHTTPRevalidation { finding in
                if case .changed = finding { findings.record("changed") }
            }
        ])
        #expect(stale.cacheType == .disk && stale.data().isEmpty)
        #expect(await findings.waitFor(count: 1) == ["changed"])
        let third = try await get()
        #expect(third.cacheType == .disk)
        #expect(try contents(third) == [still, newFilm])
    }

    @Test func aFileThatMayNotBeKeptIsDeliveredAndLoadedEachTime() async throws {
        serve(film, at: "/p.mov", tag: "\"1\"", "no-store")
        #expect(try contents(try await get()) == [still, film])
        serve(newFilm, at: "/p.mov", tag: "\"2\"", "no-store")
        let second = try await get()
        #expect(second.cacheType == .none)
        #expect(try contents(second) == [still, newFilm])
        #expect(fixture.count == 3)
    }

    @Test func onlyFromCacheDeliversStaleFilesAndMissesWhatIsNotThere() async throws {
        await #expect(throws: KingfisherError.self) { try await get([.onlyFromCache]) }
        _ = try await get()
        fixture.pass(100)
        #expect(try contents(try await get([.onlyFromCache])) == [still, film])
        #expect(fixture.count == 2)
    }

    @Test func aFileThatOnlyItsBytesNameFollowsTheRuleOfTheCache() async throws {
        let url = fixture.url("/unnamed")
        serve(film, at: "/unnamed", tag: "\"1\"", "max-age=60")
        let unnamed = LivePhotoSource(urls: [url])
        let first = try await fixture.manager.retrieveLivePhoto(with: unnamed)
        #expect(first.fileURLs.map(\.pathExtension) == ["mov"])
        fixture.pass(100)
        let second = try await fixture.manager.retrieveLivePhoto(with: unnamed)
        #expect(second.cacheType == .disk && fixture.count == 1)
    }

    @Test func theSameAddressAsAnImageIsAnotherFile() async throws {
        fixture.serve(3, "max-age=60", tag: "\"i\"", at: "/p.heic")
        #expect(try await fixture.got(at: "/p.heic") == "3 fetched")
        let photo = try await get()
        #expect(try contents(photo).first == FreshnessFixture.png(3))
        #expect(try await fixture.got(at: "/p.heic") == "3 fresh")
    }
}
