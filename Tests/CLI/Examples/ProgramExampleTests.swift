import Foundation
import HalcyonTestKit
import HalcyonTesting
import Testing

@testable import Halcyon
@testable import HalcyonExamples

@Suite struct ThumbnailExampleTests {
    private let folder: TemporaryDirectory
    private let environment: TestEnvironment

    init() throws {
        folder = try TemporaryDirectory()
        environment = try TestEnvironment()
    }

    private func run(_ arguments: String...) async -> Int32 {
        await Thumbnail.run(arguments, manager: environment.manager)
    }

    @Test(arguments: [("jpg", ImageFormat.JPEG), ("png", .PNG), ("webp", .WebP)])
    func aSmallerCopyHasTheFormatOfItsName(name: String, format: ImageFormat) async throws {
        let source = folder.file("bird.png")
        try PNGFixture.data(.gradient(width: 64, height: 48)).write(to: source)
        let output = folder.file("small.\(name)")
        #expect(await run(source.path, "32", output.path) == 0)
        let data = try Data(contentsOf: output)
        #expect(data.kf.imageFormat == format)
        #expect(Image(data: data)?.pixelSize == PixelSize(width: 32, height: 24))
    }

    @Test func whatCannotBeDoneIsToldByTheCode() async {
        let (missing, output) = (folder.file("missing.png").path, folder.file("a.png").path)
        #expect(await run() == 64)
        #expect(await run(missing, "0", output) == 64)
        #expect(await run(missing, "32", folder.file("a.xyz").path) == 64)
        #expect(await run(missing, "32", output) == 1)
        #expect(!FileManager.default.fileExists(atPath: output))
    }
}

/// An article that replaces the library by a loader made by hand: what it asks for.
@Suite struct TravelDiaryExampleTests {
    private let environment: TestEnvironment
    private let loader: ImageLoader
    private let photo = URL(string: "https://example.org/photo.png")!
    private let size = PixelSize(width: 64, height: 48)

    init() throws {
        environment = try TestEnvironment()
        loader = ImageLoader(cache: environment.cache, downloader: environment.downloader)
        let picture = Image.drawn(width: 64, height: 48) { x, y in
            Color(red: CGFloat(x) / 64, green: CGFloat(y) / 48, blue: 0.5, alpha: 1)
        }
        environment.transport.answer(photo, with: try .image(picture))
    }

    private func stored(_ url: URL) throws -> Data {
        try Data(
            contentsOf: URL(fileURLWithPath: environment.cache.cachePath(forKey: url.cacheKey)))
    }

    @Test func theLoaderFindsInMemoryThenOnDiskThenLoads() async throws {
        #expect(try await loader.loadImage(from: photo).pixelSize == size)
        _ = try await loader.loadImage(from: photo)
        environment.cache.clearMemoryCache()
        _ = try await loader.loadImage(from: photo)
        #expect(environment.transport.requestCount(for: photo) == 1)
        await loader.clearCache()
        let small = try await loader.loadImage(
            from: photo, targetSize: CGSize(width: 32, height: 32))
        #expect(small.pixelSize == PixelSize(width: 32, height: 24))
        #expect(environment.transport.requestCount(for: photo) == 2)
    }

    @Test func stickersAreStoredAsPNGAndPhotographsAsJPEG() async throws {
        let sticker = URL(string: "https://example.org/sticker.png")!
        let drawing = Image.drawn(width: 8, height: 8) { x, _ in x < 4 ? .clear : .white }
        environment.transport.answer(sticker, with: try .image(drawing))
        _ = try await loader.loadImage(from: sticker, isSticker: true)
        let image = try await loader.loadImage(from: photo)
        #expect(try stored(sticker).kf.imageFormat == .PNG)
        #expect(try Image(data: stored(sticker))?.bitmap()[0, 0].alpha == 0)
        let jpeg = image.kf.jpegRepresentation(compressionQuality: 0.8)
        #expect(try stored(photo) == jpeg)
    }

    @Test func memoryHoldsAHundredPicturesOf50MBAndTheDiskNoneAfterADayWithoutUse() async throws {
        let memory = environment.cache.memoryStorage.config
        #expect(memory.countLimit == 100 && memory.totalCostLimit == 50 * 1024 * 1024)
        for (hours, requests) in [(23, 1), (23, 1), (25, 2)] {
            _ = try await loader.loadImage(from: photo)
            environment.cache.clearMemoryCache()
            environment.clock.advance(by: .seconds(hours * 3600))
            // As the next start of a program does.
            await environment.cache.cleanExpiredDiskCache()
            _ = try await loader.loadImage(from: photo)
            environment.cache.clearMemoryCache()
            #expect(environment.transport.requestCount(for: photo) == requests)
        }
    }

    // MARK: Four photographs in a frame

    private func url(_ name: String) -> URL { URL(string: "https://example.org/\(name).png")! }

    private func answer(_ name: String, _ color: Color, after seconds: Int) throws {
        let image = Image.solid(color, width: 48, height: 48)
        environment.transport.answer(
            url(name), with: try .image(image).delayed(by: .seconds(seconds)))
    }

    private func fourCut() async throws -> Image {
        try await loader.loadFourCut(
            frame: url("frame"), photos: ["a", "b", "c", "d"].map(url), width: 60)
    }

    private let colors = [
        Color(red: 1, green: 0, blue: 0, alpha: 1), Color(red: 0, green: 1, blue: 0, alpha: 1),
        Color(red: 0, green: 0, blue: 1, alpha: 1), Color.white,
    ]

    @Test func photographsComeToTheirPlacesWhateverComesFirstAndAllAtOnce() async throws {
        try answer("frame", .black, after: 5)
        for (index, name) in ["a", "b", "c", "d"].enumerated() {
            try answer(name, colors[index], after: 4 - index)
        }
        async let loaded = fourCut()
        await environment.clock.waitForSleepers(5)
        environment.clock.advance(by: .seconds(5))
        let picture = try Picture(try await loaded)
        #expect(picture.width == 60 && picture.height == 69 && picture[30, 2] == [0, 0, 0, 1])
        #expect(picture[16, 16] == [1, 0, 0, 1] && picture[44, 16] == [0, 1, 0, 1])
        #expect(picture[16, 46] == [0, 0, 1, 1] && picture[44, 46] == [1, 1, 1, 1])
    }

    @Test func aPhotographThatIsMissingMakesNoPicture() async throws {
        try answer("frame", .black, after: 0)
        for (name, color) in zip(["a", "b", "d"], colors) { try answer(name, color, after: 0) }
        environment.transport.answer(url("c"), with: .status(404))
        await #expect(throws: KingfisherError.self) { _ = try await fourCut() }
    }

    @Test func theProgramWritesThePicture() async throws {
        let folder = try TemporaryDirectory()
        let photo = folder.file("photo.png")
        try PNGFixture.data(.gradient(width: 64, height: 48)).write(to: photo)
        let output = folder.file("four-cut.jpg")
        let arguments = Array(repeating: photo.path, count: 5) + [output.path]
        #expect(await TravelDiary.run(arguments, loader: loader) == 0)
        #expect(Image(data: try Data(contentsOf: output))?.pixelSize.width == 1024)
        #expect(await TravelDiary.run([], loader: loader) == 64)
        #expect(
            await TravelDiary.run(Array(repeating: "missing.png", count: 6), loader: loader) == 1)
    }
}
