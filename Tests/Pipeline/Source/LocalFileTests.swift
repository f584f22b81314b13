import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Local files that change, and files whose names are no text.
@Suite struct LocalFileTests {
    private let fixture: ManagerFixture
    private let files: TemporaryDirectory

    init() async throws {
        fixture = try await ManagerFixture()
        files = try TemporaryDirectory()
    }

    private func write(width: Int) throws -> URL {
        try files.write(PNGFixture.data(.gradient(width: width, height: 3)), to: "a.png")
    }

    private func width(_ source: Source, _ manager: KingfisherManager? = nil) async throws -> Int {
        try await (manager ?? fixture.manager).retrieveImage(with: source).image.pixelSize.width
    }

    @Test func aFileThatHasChangedIsSeen() async throws {
        let url = try write(width: 5)
        let provider = Source.provider(LocalFileImageDataProvider(fileURL: url))
        let sources = [
            url.convertToSource(), provider, KF.ImageResource(downloadURL: url).convertToSource(),
            .provider(ThumbnailImageDataProvider(url: url, maxPixelSize: 100)),
        ]
        for source in sources { #expect(try await width(source) == 5) }
        #expect(try await fixture.manager.retrieveImage(with: url).cacheType == .memory)
        #expect(fixture.cache.isCached(forKey: url.cacheKey))
        _ = try write(width: 70)
        #expect(!fixture.cache.isCached(forKey: url.cacheKey))
        for source in sources { #expect(try await width(source) == 70) }
        #expect(try await width(url.convertToSource()) == 70)
        // From the disk, too.
        let later = KingfisherManager(
            downloader: fixture.downloader,
            cache: try ImageCache(name: "test", cacheDirectoryURL: fixture.folder.url))
        #expect(try await later.retrieveImage(with: url).cacheType == .disk)
        #expect(try await width(url.convertToSource(), later) == 70)
    }

    /// Upstream: testLocalFileExplicitKey
    @Test func aKeyOfItsOwnIsTheProgramsWord() async throws {
        let url = try write(width: 5)
        let sources = [
            Source.provider(LocalFileImageDataProvider(fileURL: url, cacheKey: "own")),
            url.convertToSource(overrideCacheKey: "other"),
            KF.ImageResource(downloadURL: url, cacheKey: "third").convertToSource(),
        ]
        #expect(sources.map(\.cacheKey) == ["own", "other", "third"])
        #expect(sources.map(\.url) == [url, url, url])
        for source in sources { #expect(try await width(source) == 5) }
        _ = try write(width: 70)
        for source in sources { #expect(try await width(source) == 5) }
    }

    @Test func aFileOfTheSameSizeIsSeenByItsDate() async throws {
        let url = try files.write(
            PNGFixture.data(.solid(Pixel(gray: 0), width: 4, height: 4)), to: "a.png")
        let first = url.cacheKey
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: url.path)
        #expect(url.cacheKey != first)
        #expect(url.cacheKey.hasSuffix("&modified=1000000000000000000"))
    }

    @Test @MainActor func aBindingShowsWhatHasChanged() async throws {
        let url = try write(width: 5)
        let shown = Recorder<Int>()
        let binding = ReusableImageBinding { state in
            if case .success(let image) = state { shown.record(image.pixelSize.width) }
        }
        let options: KingfisherOptionsInfo = [.targetCache(fixture.cache)]
        binding.bind(to: url, options: options)
        await shown.waitFor(count: 1)
        binding.bind(to: url, options: options)
        _ = try write(width: 70)
        binding.bind(to: url, options: options)
        await shown.waitFor(count: 2)
        #expect(shown.events == [5, 70])
    }

    @Test func namesThatAreNoTextAreLoadedEachByItself() async throws {
        for (byte, width) in [(0xE8, 5), (0xE9, 6)] as [(UInt8, Int)] {
            let name = Array("\(files.url.path)/caf".utf8) + [byte] + Array(".png".utf8) + [0]
            let file = try #require(
                name.withUnsafeBufferPointer { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { fopen($0.baseAddress!, "w") }
                })
            let png = PNGFixture.data(.gradient(width: width, height: 3))
            _ = png.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
            fclose(file)
        }
        for (name, width) in [("caf%E8.png", 5), ("caf%E9.png", 6), ("caf%e8.png", 5)] {
            let url = try #require(URL(string: files.url.absoluteString + "/" + name))
            for _ in 0..<2 { #expect(try await self.width(url.convertToSource()) == width) }
            #expect(
                try await self.width(
                    .provider(ThumbnailImageDataProvider(url: url, maxPixelSize: 50))) == width)
        }
        let missing = try #require(URL(string: files.url.absoluteString + "/caf%EA.png"))
        let error = await kingfisherError { _ = try await width(missing.convertToSource()) }
        #expect(error?.errorDescription?.contains("caf\\xEA.png cannot be read") == true)
    }
}
