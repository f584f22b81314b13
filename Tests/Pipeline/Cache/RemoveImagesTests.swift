import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Removing an image with all that was made of it.
@Suite struct RemoveImagesTests {
    private let folder: TemporaryDirectory
    private let cache: ImageCache
    private let image = Image(data: PNGFixture.data(.gradient(width: 4, height: 3)))!

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
    }

    /// As another process has it.
    private func again() throws -> ImageCache {
        try ImageCache(name: "test", cacheDirectoryURL: folder.url)
    }

    private func store(
        _ key: String, _ processors: [String], _ ext: String? = nil, in cache: ImageCache? = nil
    ) async throws {
        for processor in processors {
            try await (cache ?? self.cache).store(
                image, forKey: key, processorIdentifier: processor, forcedExtension: ext)
        }
    }

    private func types(
        _ key: String, _ processors: [String], _ ext: String? = nil, in cache: ImageCache? = nil
    ) -> [CacheType] {
        processors.map {
            (cache ?? self.cache).imageCachedType(
                forKey: key, processorIdentifier: $0, forcedExtension: ext)
        }
    }

    private static let processors = [
        "", BlurImageProcessor(blurRadius: 4).identifier, "own", "own|>com.onevcat.Kingfisher.Tint",
        "a@b",
    ]

    @Test(arguments: [
        "https://example.com/a.jpg", "me", "https://example.com/a.jpg?size=2&token=secret",
        "https://user:word@example.com/a.jpg", "kingfisher.local.cacheKey///a?size=1&modified=2",
    ])
    func nothingOfASourceStays(key: String) async throws {
        try await store(key, Self.processors)
        try await store(key, Self.processors, "jpg")
        try await cache.removeImages(forKey: key, forcedExtension: "jpg")
        try await cache.removeImages(forKey: key)
        for cache in [cache, try again()] {
            #expect(types(key, Self.processors, in: cache).allSatisfy { !$0.cached })
            #expect(types(key, Self.processors, "jpg", in: cache).allSatisfy { !$0.cached })
        }
        #expect(try await cache.diskStorageSize == 0)
    }

    @Test func itIsAlsoKnownToAProcessThatHasStoredNothing() async throws {
        try await store("a", Self.processors)
        try await again().removeImages(forKey: "a")
        cache.clearMemoryCache()
        #expect(types("a", Self.processors).allSatisfy { !$0.cached })
    }

    @Test func otherSourcesStay() async throws {
        let others = [
            "me2", "me@example.com", "m", "https://example.com/a?token=2",
            "https://example.com/a?token=3",
        ]
        for key in others { try await store(key, ["", "own"]) }
        try await store("me", ["", "own"])
        try await cache.removeImages(forKey: "me")
        try await cache.removeImages(forKey: "https://example.com/a?token=3")
        for key in others.dropLast() { #expect(types(key, ["", "own"]).allSatisfy { $0.cached }) }
        #expect(types(others[4], ["", "own"]).allSatisfy { !$0.cached })
    }

    @Test func memoryAndDiskAreRemovedAsIsAskedFor() async throws {
        try await store("a", Self.processors)
        try await cache.removeImages(forKey: "a", fromDisk: false)
        #expect(types("a", Self.processors).allSatisfy { $0 == .disk })
        try await cache.store(image, forKey: "a", processorIdentifier: "own", toDisk: false)
        try await cache.removeImages(forKey: "a", fromMemory: false)
        #expect(types("a", ["", "own"]) == [.none, .memory])
    }

    @Test func whatIsBeingWrittenIsRemoved() async throws {
        // Rendered, an image is in memory when the call returns; only its file comes later.
        _ = try image.bitmap()
        for processor in Self.processors {
            cache.store(
                image, forKey: "a", processorIdentifier: processor, completionHandler: { _ in })
        }
        await withCheckedContinuation { done in cache.removeImages(forKey: "a") { done.resume() } }
        #expect(types("a", Self.processors).allSatisfy { !$0.cached })
        #expect(try await cache.diskStorageSize == 0)
    }

    @Test func theEntriesOfTheCacheSpellKeysAsTheyAre() async throws {
        try await store("a", ["own"])
        #expect(try cache.diskStorage.entries().map(\.key) == ["a@own"])
    }

    @Test func aSourceIsMeantByItsKey() async throws {
        let url = URL(string: "https://example.com/a.jpg?signature=1")!
        let normalizer = CacheKeyNormalizer.removingQueryItems(["signature"])
        let options: KingfisherOptionsInfo = [.cacheKeyNormalizer(normalizer)]
        try await store(normalizer.key(for: url), Self.processors)
        try await cache.removeImages(of: url, options: options)
        #expect(types(normalizer.key(for: url), Self.processors).allSatisfy { !$0.cached })
    }

    @Test func otherMachinesLoseItToo() async throws {
        let table = SharedTable()
        let other = try TemporaryDirectory()
        let first = try ImageCache(name: "test", cacheDirectoryURL: folder.url, shared: table)
        let second = try ImageCache(name: "test", cacheDirectoryURL: other.url, shared: table)
        try await store("a", ["", "own"], in: first)
        try await store("b", ["own"], in: second)
        try await store("c", ["", "own"], in: first)
        await table.objects.wait { $0.count == 5 }
        // The second machine has made nothing of it, but knows the processor.
        try await second.removeImages(forKey: "a")
        #expect(table.objects.value.count == 3)
        first.clearMemoryCache()
        try await first.removeImages(forKey: "c")
        try await first.removeImages(forKey: "b")
        #expect(table.objects.value.isEmpty)
    }
}
