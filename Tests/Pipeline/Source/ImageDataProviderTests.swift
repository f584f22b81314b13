import Dispatch
import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct ImageDataProviderTests {
    private let folder: TemporaryDirectory
    /// Holds "bytes".
    private let file: URL

    init() throws {
        folder = try TemporaryDirectory()
        file = try folder.write(Data("bytes".utf8), to: "a.png")
    }

    /// Upstream: testLocalFileImageDataProviderAsync, testLocalFileImageDataProvider
    @Test func aLocalFileIsReadUnderTheKeyOfItsPath() async throws {
        let provider = LocalFileImageDataProvider(fileURL: file)
        #expect(provider.cacheKey == file.cacheKey && provider.cacheKey == file.localFileCacheKey)
        #expect(provider.contentURL == file)
        #expect(try await provider.data() == Data("bytes".utf8))
        #expect(try await provider.data == Data("bytes".utf8))
        let data: Data? = await handedOver { hand in provider.data { hand(try? $0.get()) } }
        #expect(data == Data("bytes".utf8))
    }

    /// Upstream: testLocalFileImageDataProviderMainQueueAsync
    @Test @MainActor func onTheMainQueueAFileCanBeAwaited() async throws {
        let provider = LocalFileImageDataProvider(fileURL: file, loadingQueue: .mainCurrentOrAsync)
        #expect(try await provider.data == Data("bytes".utf8))
    }

    /// Upstream: testLocalFileImageDataProviderMainQueue
    @Test func onTheMainQueueAFileCanBeReadAtOnce() async throws {
        let provider = LocalFileImageDataProvider(fileURL: file, loadingQueue: .mainCurrentOrAsync)
        let order = await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                let events = Recorder<String>()
                provider.data { _ in events.record("handler") }
                events.record("returned")
                continuation.resume(returning: events.events)
            }
        }
        #expect(order == ["handler", "returned"])
    }

    @Test func base64TextMayHaveLineBreaks() async throws {
        let provider = Base64ImageDataProvider(base64String: "aGVs\nbG8=\n", cacheKey: "hello")
        #expect(provider.cacheKey == "hello")
        #expect(try await provider.data() == Data("hello".utf8))
    }

    /// Defect: D-5
    @Test(arguments: ["%%%", "aGVsbG8", "aGVsbG8=!"])
    func textThatIsNotBase64IsAnError(text: String) async {
        let provider = Base64ImageDataProvider(base64String: text, cacheKey: "key")
        await #expect(throws: Base64ImageDataProvider.Base64Error.self) {
            try await provider.data()
        }
    }

    /// Upstream: testBase64ImageDataProvider
    @Test func base64AndRawBytesAreThereBeforeTheCallReturns() {
        let events = Recorder<Data?>()
        Base64ImageDataProvider(base64String: "aGVsbG8=", cacheKey: "a")
            .data { events.record(try? $0.get()) }
        RawImageDataProvider(data: Data("raw".utf8), cacheKey: "b")
            .data { events.record(try? $0.get()) }
        #expect(events.events == [Data("hello".utf8), Data("raw".utf8)])
    }

    @Test func aThumbnailIsSmallAndInTheFormatOfTheFile() async throws {
        let png = PNGFixture.data(.gradient(width: 64, height: 32))
        let file = try folder.write(png, to: "a.png")
        let provider = ThumbnailImageDataProvider(url: file, maxPixelSize: 16)
        let version = try #require(FileVersion(of: file)).suffix
        #expect(provider.cacheKey == "\(file.absoluteString)_thumb_16.0_true\(version)")
        let data = try await provider.data()
        #expect(data.kf.imageFormat == .PNG)
        #expect(try Image.decoding(data).pixelSize == PixelSize(width: 16, height: 8))
    }

    @Test func aThumbnailOfNoImageIsAnError() async throws {
        let file = try folder.write(Data("<html></html>".utf8), to: "a.png")
        await #expect(throws: ThumbnailImageDataProviderError.invalidImageSource) {
            try await ThumbnailImageDataProvider(url: file, maxPixelSize: 16).data()
        }
    }
}
