import Foundation
import HalcyonHTTP
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What errors say to people: what is at fault, in the words of those who asked.
@Suite struct ErrorWordsTests {
    private let folder: TemporaryDirectory
    private let manager: KingfisherManager

    init() throws {
        folder = try TemporaryDirectory()
        manager = KingfisherManager(
            downloader: ImageDownloader.patient(),
            cache: try ImageCache(name: "words", cacheDirectoryURL: folder.url))
    }

    private func words(
        loading source: Source, _ options: KingfisherOptionsInfo = []
    ) async -> String? {
        await kingfisherError {
            _ = try await manager.retrieveImage(with: source, options: options)
        }?.errorDescription
    }

    private func words(loading data: Data, _ options: KingfisherOptionsInfo = []) async -> String? {
        let key = UUID().uuidString
        return await words(
            loading: .provider(RawImageDataProvider(data: data, cacheKey: key)), options)
    }

    private let png = PNGFixture.data(.gradient(width: 40, height: 30))

    private func thumbnail(_ url: URL, _ limits: DecodingLimits = .default) -> Source {
        .provider(
            ThumbnailImageDataProvider(
                url: url, maxPixelSize: 8, cacheKey: "thumbnail", limits: limits))
    }

    @Test func whatIsNoFileIsNamedByItsPathAndSaidToBeWhatItIs() async throws {
        let missing = folder.file("none.jpg")
        let inFile = try folder.write(Data(), to: "file").appendingPathComponent("a.jpg")
        let (fifo, socket, link) = (folder.file("fifo"), folder.file("socket"), folder.file("link"))
        try #require(mkfifo(fifo.path, 0o600) == 0)
        try #require(mknod(socket.path, S_IFSOCK | 0o600, 0) == 0)
        try #require(symlink("/dev/zero", link.path) == 0)
        for (url, text) in [
            (missing, "There is no file at \(missing.path)."),
            (folder.url, "\(folder.url.path) is a folder, not a file."),
            (fifo, "\(fifo.path) is a FIFO, not a file."),
        ] {
            #expect(await words(loading: url.convertToSource()) == text)
            #expect(await words(loading: thumbnail(url)) == text)
        }
        for (url, text) in [
            (inFile, "There is no file at \(inFile.path): a part of the path is no folder."),
            (socket, "\(socket.path) is a socket, not a file."),
            (link, "\(link.path) is a device, not a file."),
        ] { #expect(await words(loading: url.convertToSource()) == text) }
    }

    @Test func aThumbnailThatCannotBeMadeNamesItsFile() async throws {
        let text = try folder.write(Data("text".utf8), to: "text")
        #expect(
            await words(loading: thumbnail(text))
                == "\(text.path) cannot be loaded: It is not an image.")
        let picture = try folder.write(png, to: "a.png")
        #expect(
            await words(loading: thumbnail(picture, DecodingLimits(maximumPixelCount: 99)))
                == "\(picture.path) cannot be loaded: "
                + "The image has 40×30 pixels; the limit is 99 pixels.")
        #expect(await words(loading: thumbnail(picture)) == nil)
    }

    @Test func aCancelledFileIsNamedByItsPath() {
        let file = LocalFileImageDataProvider(fileURL: folder.file("a.png"), cacheKey: "avatar")
        let raw = RawImageDataProvider(data: png, cacheKey: "avatar")
        func words(_ provider: any ImageDataProvider) -> String? {
            KingfisherError.requestError(reason: .dataProviderCancelled(provider: provider))
                .errorDescription
        }
        #expect(words(file) == "Loading \(folder.file("a.png").path) was cancelled.")
        #expect(words(raw) == "Loading avatar from its data provider was cancelled.")
    }

    @Test func errorsOfTransfersMaskSecrets() {
        let url = "https://anna:pa55@host/a.jpg?token=abc&w=1"
        let masked = "https://***@host/a.jpg?token=***&w=1"
        let error = ImageTransportError.connectionReset(url: url, reason: "no more of \(url)")
        #expect(
            error.description
                == "The connection broke while \(masked) was downloaded: no more of \(masked).")
        #expect(error.errorDescription == error.description)
        #expect("\(error as any Error)" == error.description)
    }

    @Test func aProviderThatReadsNoFileIsNamedByItsKey() async {
        let provider = Base64ImageDataProvider(base64String: "%", cacheKey: "avatar")
        #expect(
            await words(loading: .provider(provider))
                == "avatar cannot be loaded: The text given for avatar is not Base64.")
    }

    @Test func whatIsNoPictureIsNoFailureOfTheProcessor() async {
        let resize = ResizingImageProcessor(referenceSize: CGSize(width: 9, height: 9))
        #expect(await words(loading: Data()) == "The data is empty.")
        #expect(
            await words(loading: Data("<!doctype html><html></html>".utf8), [.processor(resize)])
                == "The data is not a known image: an HTML page.")
    }

    @Test func aDamagedFileIsDamagedWhateverWasToBeMadeOfIt() async {
        let blur = BlurImageProcessor(blurRadius: 3)
        for options: KingfisherOptionsInfo in [[], [.processor(blur)]] {
            let text = await words(loading: Data(png.prefix(2000)), options)
            #expect(text?.hasPrefix("The PNG data is damaged: ") == true, "\(text ?? "nil")")
        }
    }

    @Test func theLimitNamedIsTheOneInForce() async {
        let limits = KingfisherOptionsInfoItem.decodingLimits(
            DecodingLimits(maximumPixelCount: 100))
        for options in [[limits], [limits, .processor(BlurImageProcessor(blurRadius: 3))]] {
            #expect(
                await words(loading: png, options)
                    == "The image has 40×30 pixels; the limit is 100 pixels.")
        }
        let large = PNGFixture.data(.gradient(width: 400, height: 300), as: .rgba16)
        let memory = DecodingLimits(maximumMemory: 500_000)
        let text = await words(loading: large, [.decodingLimits(memory)])
        #expect(text?.contains("the limit is 500000 bytes") == true, "\(text ?? "nil")")
    }

    @Test func aProcessorThatGivesNothingIsNamedByItsIdentifier() async {
        #expect(
            await words(loading: png, [.processor(CountingProcessor(gives: nil))])
                == "test.counting failed: it gave no image.")
    }

    @Test func aProcessorThatFailsIsNamedAsItIsWritten() async throws {
        let huge = ResizingImageProcessor(
            referenceSize: CGSize(width: 9_000_000, height: 9_000_000))
        let text = try #require(await words(loading: png, [.processor(huge)]))
        #expect(text.hasPrefix("resize:9000000x9000000 failed: "), "\(text)")
    }

    @Test func transfersAreNotSaidToHaveFailedTwice() async throws {
        let port = try ClosedPort()
        let text = await words(loading: .network(port.url("/a.png")))
        #expect(text?.hasPrefix("127.0.0.1 refused the connection") == true, "\(text ?? "nil")")
    }

    @Test func secretsOfURLsAreMasked() async throws {
        let origin = try await OriginServer.start(files: [:])
        let text = await words(loading: .network(origin.url("/a.png?size=9&token=abc123")))
        #expect(text?.contains("size=9&token=***") == true)
        #expect(text?.contains("abc123") == false)
    }
}

/// What of a URL is shown and kept.
@Suite struct SecretMaskTests {
    @Test(arguments: [
        ("https://anna:pa55@host/a.jpg", "https://***@host/a.jpg"),
        ("https://anna@host/a.jpg", "https://***@host/a.jpg"),
        ("http://a:b@c:d@host:8080/x", "http://***@host:8080/x"),
        ("https://host/a.jpg?token=abc", "https://host/a.jpg?token=***"),
        ("https://host/a?w=5&sig=x%2Fy&h=7", "https://host/a?w=5&sig=***&h=7"),
        ("https://host/a?X-Amz-Signature=0f&w=1", "https://host/a?X-Amz-Signature=***&w=1"),
        ("https://host/a?X%2DAmz%2DSignature=0f", "https://host/a?X%2DAmz%2DSignature=***"),
        ("https://host/a?X-Amz-Credential=me", "https://host/a?X-Amz-Credential=***"),
        ("https://host/a?ACCESS_TOKEN=q", "https://host/a?ACCESS_TOKEN=***"),
        ("https://host/a?api-key=1;key=2", "https://host/a?api-key=***;key=***"),
        ("https://host/a#access_token=1", "https://host/a#access_token=***"),
        ("https://host/a;password=1/b", "https://host/a;password=***"),
        ("/a.jpg?token=abc", "/a.jpg?token=***"),
        ("?signature=a=b=c", "?signature=***"),
        ("https://o'hara:x@host/", "https://***@host/"),
        ("https://host/?password=o'brien&w=1", "https://host/?password=***&w=1"),
        ("'https://host/?token=x', it said", "'https://host/?token=***', it said"),
    ])
    func secretsAreMasked(text: String, masked: String) {
        #expect(text.maskingSecrets == masked)
        #expect(masked.maskingSecrets == masked, "masking once is enough")
    }

    @Test(arguments: [
        "", "avatar-42", "https://host/a.jpg", "https://host/a.jpg?width=5&keyword=sun#top",
        "https://host/@user/a.jpg", "https://host/a?email=a@b.c", "https://host/a?token=",
        "a=b", "mail anna@host.net", "://", "https://", "?=", "?token", "?&;#=",
    ])
    func theRestStays(text: String) {
        #expect(text.maskingSecrets == text)
    }

    @Test func theProcessorInAKeyStays() {
        let processor = "@com.onevcat.Kingfisher.BlurImageProcessor(4.0)"
        #expect(
            ("https://host/a?token=x@y" + processor).maskingSecrets
                == "https://host/a?token=***" + processor)
        #expect(("https://host" + processor).maskingSecrets == "https://host" + processor)
    }

    @Test func everyURLOfATextIsMasked() {
        let text = "\"http://a:b@c/?key=1\" led to <https://d@e/?sig=2>, said the server"
        #expect(
            text.maskingSecrets
                == "\"http://***@c/?key=***\" led to <https://***@e/?sig=***>, said the server")
    }
}
