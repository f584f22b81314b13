import Dispatch
import Foundation
import HalcyonPixels
import HalcyonTestKit
import Testing

import Halcyon

/// Requests for the same image at the same time: what is done once for all of them.
@Suite struct SharedImageTests {
    private let fixture: ManagerFixture
    private let queue = HeldQueue()
    /// The pixels that the processor has decoded, one of each run.
    private let decoded = Recorder<Bitmap>()
    private let processor: ClosureProcessor
    private let serializer = CountingSerializer()

    init() async throws {
        fixture = try await ManagerFixture()
        processor = ClosureProcessor { [decoded] item, options in
            let processor = DownsamplingImageProcessor(size: CGSize(width: 16, height: 16))
            let image = processor.process(item: item, options: options)
            if let bitmap = try? image?.bitmap() { decoded.record(bitmap) }
            return image
        }
    }

    private var options: KingfisherOptionsInfo {
        [
            .processor(processor), .cacheSerializer(serializer), .callbackQueue(.untouch),
            .processingQueue(.operationQueue(queue)), .waitForCache,
        ]
    }

    private func start(_ source: Source? = nil) -> ManagerFixture.Request {
        fixture.start(source ?? .network(fixture.url), options)
    }

    /// Lets the work of requests be done, when it has come to the queue.
    private func finish(
        _ requests: [ManagerFixture.Request]
    ) async throws -> [RetrieveImageResult] {
        await queue.operations.waitFor(count: 1)
        queue.release()
        var results: [RetrieveImageResult] = []
        for request in requests { results.append(try await request.result().get()) }
        return results
    }

    @Test(arguments: [false, true])
    func aProcessedImageOfACachedOriginalIsMadeAndWrittenOnce(isInMemory: Bool) async throws {
        if isInMemory {
            _ = try await fixture.retrieve()
        } else {
            try await fixture.cache.storeToDisk(fixture.png, forKey: fixture.url.cacheKey)
        }
        let images = try await finish((0..<20).map { _ in start() }).map(\.image)
        if !isInMemory { #expect(images.allSatisfy { $0 === images[0] }) }
        try expectPixelsDecodedOnce(images)
        #expect(serializer.writes.value == 1)
        #expect(fixture.origin.requestCount == (isInMemory ? 1 : 0))
    }

    @Test func aDataProviderIsAskedOnceForAllItsCallers() async throws {
        let provider = CountingProvider(bytes: fixture.png)
        let requests = (0..<20).map { _ in start(.provider(provider)) }
        provider.gate.open()
        let results = try await finish(requests)
        #expect(results.allSatisfy { $0.data() == fixture.png } && provider.calls.value == 1)
        try expectPixelsDecodedOnce(results.map(\.image))
        #expect(serializer.writes.value == 1)
    }

    @Test func aDataProviderGoesOnForThoseWhoStay() async throws {
        let provider = CountingProvider(bytes: fixture.png)
        let (first, second) = (start(.provider(provider)), start(.provider(provider)))
        first.task?.cancel()
        #expect(await first.result().errorCode == 1006)
        provider.gate.open()
        _ = try await finish([second])
        #expect(provider.calls.value == 1)
    }

    @Test func aDownloadCancelledAfterItsBytesHaveComeIsNeitherProcessedNorStored() async throws {
        let request = start()
        await queue.operations.waitFor(count: 1)
        request.task?.cancel()
        let error = await request.result().error
        guard case .requestError(reason: .taskCancelled(let session, let token)) = error else {
            throw Unexpected(error)
        }
        #expect(session === request.task?.sessionTask && token == 0)
        queue.release()
        #expect(decoded.count == 0 && serializer.writes.value == 0)
        #expect(request.results.count == 1 && !isCached)
    }

    @Test func aDownloadCancelledByOneAfterItsBytesHaveComeIsMadeForTheOther() async throws {
        let (first, second) = (start(), start())
        await queue.operations.waitFor(count: 1)
        first.task?.cancel()
        #expect(await first.result().errorCode == 1003)
        _ = try await finish([second])
        #expect(decoded.count == 1 && isCached)
    }

    @Test func theDownloadersOwnCallersMayCancelAfterTheBytesHaveComeToo() async throws {
        let downloads = Recorder<Int?>()
        let task = fixture.downloader.downloadImage(with: fixture.url, options: options) {
            downloads.record($0.errorCode)
        }
        await queue.operations.waitFor(count: 1)
        task.cancel()
        #expect(await downloads.waitFor(count: 1) == [1003])
        queue.release()
        #expect(decoded.count == 0 && downloads.count == 1)
    }

    /// All have the very pixels that the processor decoded when it ran, once.
    private func expectPixelsDecodedOnce(_ images: [Image]) throws {
        let bitmaps = try images.map { try $0.bitmap() }
        #expect(images.count == 20 && decoded.count == 1)
        #expect(bitmaps[0].size == PixelSize(width: 16, height: 12))
        #expect(Set(bitmaps.map(\.identity)) == Set(decoded.events.map(\.identity)))
    }

    private var isCached: Bool {
        fixture.cache.isCached(
            forKey: fixture.url.cacheKey, processorIdentifier: processor.identifier)
    }
}

/// Two requests that share a download and differ in what the disk is to hold of it.
@Suite struct SharedFileTests {
    private let fixture: ManagerFixture
    private let gate: Gate

    init() async throws {
        fixture = try await ManagerFixture()
        gate = fixture.hold("/photo.png").gate
    }

    /// What is on disk after requests with these options that share one download.
    private func file(_ wishes: [KingfisherOptionsInfo]) async throws -> DiskStorage.Entry {
        let requests = wishes.map { fixture.start(fixture.url, $0) }
        gate.open()
        for request in requests { #expect(await request.result().value != nil) }
        #expect(fixture.origin.requestCount == 1)
        return try #require(fixture.cache.diskStorage.entries().first)
    }

    @Test(arguments: [[1, 30], [30, 1], [5, 30, 5], [2, 2, 2]])
    func theExpirationOfTheLaterOneHolds(_ wishes: [Int]) async throws {
        let entry = try await file(wishes.map { [.diskCacheExpiration(.days($0))] })
        let left = try #require(entry.expiration).timeIntervalSinceNow
        #expect(Int((left / 86_400).rounded()) == wishes.last)
    }

    @Test func theSerializerOfTheLaterOneHolds() async throws {
        let entry = try await file([
            [.cacheSerializer(DefaultCacheSerializer.default)],
            [.cacheSerializer(FormatIndicatedCacheSerializer.jpeg)],
        ])
        #expect(entry.format == "JPEG")
    }

    /// Many times: which of the two is ready first is the scheduler's choice.
    @Test(arguments: 0..<20)
    func aFileOfTheFirstStaysWhenTheLaterOneDoesNotOverwrite(time: Int) async throws {
        let entry = try await file([
            [.cacheSerializer(DefaultCacheSerializer.default)],
            [
                .cacheSerializer(FormatIndicatedCacheSerializer.jpeg),
                .diskStoreWriteOptions(.withoutOverwriting),
            ],
        ])
        #expect(entry.format == "PNG")
    }

    @Test func equalWishesWriteOnce() async throws {
        let serializer = CountingSerializer()
        _ = try await file(Array(repeating: [.cacheSerializer(serializer)], count: 3))
        #expect(serializer.writes.value == 1)
    }
}

/// An image that is made smaller, of an original on disk.
@Suite struct ReducedOriginalTests {
    /// A photograph of sorts, so that reducing it has something to get wrong.
    private static func drawn(_ format: ImageFormat) throws -> Data {
        var random = SeededGenerator(state: 7)
        let bitmap = try Bitmap.drawn(1280, 960, channels: 4) { x, y in
            let noise = Int(random.next() % 48)
            return [
                UInt8((x * 200 / 1280) + noise), UInt8((y * 200 / 960) + noise),
                UInt8(((x ^ y) & 127) + noise), 255,
            ]
        }
        return try #require(Image(bitmap: bitmap).kf.data(format: format, compressionQuality: 0.9))
    }

    private static let corpus = ["found/cached-original.jpg", "found/cached-original.png"]
        .compactMap { Corpus.file($0) }

    private let fixture: ManagerFixture
    private var url: URL { fixture.origin.url("/picture") }

    init() async throws { fixture = try await ManagerFixture() }

    /// The picture, made smaller.
    private func reduced() async throws -> RetrieveImageResult {
        let processor = DownsamplingImageProcessor(size: CGSize(width: 200, height: 200))
        return try await fixture.manager.retrieveImage(with: url, options: [.processor(processor)])
    }

    private func hasTheSamePixelsAsAfterADownload(_ bytes: Data) async throws {
        fixture.origin.route("/picture", .ok(bytes))
        let downloaded = try await reduced()
        await fixture.cache.clearCache()
        try await fixture.cache.storeToDisk(bytes, forKey: url.cacheKey)
        let made = try await reduced()
        #expect(fixture.origin.requestCount == 1 && made.cacheType == .none)
        #expect(made.image.pixelSize == downloaded.image.pixelSize)
        #expect(try made.image.bitmap().data == downloaded.image.bitmap().data)
        #expect(
            fixture.cache.imageCachedType(forKey: url.cacheKey) == .disk,
            "nobody has needed all pixels of the original")
    }

    @Test(arguments: [ImageFormat.JPEG, .PNG])
    func hasTheSamePixelsAsAfterADownload(_ format: ImageFormat) async throws {
        try await hasTheSamePixelsAsAfterADownload(Self.drawn(format))
    }

    @Test(.enabled(if: !corpus.isEmpty), arguments: corpus)
    func ofRealFilesTooHasTheSamePixelsAsAfterADownload(_ file: URL) async throws {
        try await hasTheSamePixelsAsAfterADownload(Data(contentsOf: file))
    }

    @Test func aDamagedOriginalIsLoadedAgain() async throws {
        let bytes = try Self.drawn(.PNG)
        fixture.origin.route("/picture", .ok(bytes))
        try await fixture.cache.storeToDisk(bytes.prefix(bytes.count / 2), forKey: url.cacheKey)
        #expect(try await reduced().image.pixelSize == PixelSize(width: 200, height: 150))
        #expect(fixture.origin.requestCount == 1)
        #expect(!fixture.cache.isCached(forKey: url.cacheKey), "the damaged file is gone")
    }
}

/// A queue whose operations run when a test says so.
final class HeldQueue: CallbackOperationQueue {
    let operations = Recorder<@Sendable () -> Void>()
    private let isReleased = Locked(false)

    var underlyingQueue: DispatchQueue? { nil }

    func addOperation(_ block: @Sendable @escaping () -> Void) {
        let runs = isReleased.withLock { isReleased in
            operations.record(block)
            return isReleased
        }
        if runs { block() }
    }

    /// Runs what has been added, here, and lets everything else run at once.
    func release() {
        let held = isReleased.withLock { isReleased in
            isReleased = true
            return operations.events
        }
        for block in held { block() }
    }
}

/// Stores as the default serializer, and counts.
final class CountingSerializer: CacheSerializer {
    let writes = Locked(0)
    private let beforeWriting: @Sendable () -> Void

    init(beforeWriting: @escaping @Sendable () -> Void = {}) {
        self.beforeWriting = beforeWriting
    }

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        beforeWriting()
        writes.withLock { $0 += 1 }
        return DefaultCacheSerializer.default.data(with: image, original: original)
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultCacheSerializer.default.image(with: data, options: options)
    }
}
