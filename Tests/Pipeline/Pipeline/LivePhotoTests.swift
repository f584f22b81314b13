import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct LivePhotoTests {
    private let heic = LivePhotoResourceTests.isoMedia("heic")
    private let mov = LivePhotoResourceTests.isoMedia("qt  ")
    private let fixture: ManagerFixture
    private let source: LivePhotoSource
    private var manager: KingfisherManager { fixture.manager }

    init() async throws {
        fixture = try await ManagerFixture()
        fixture.origin.route("/photo.heic", .ok(heic))
        fixture.origin.route("/photo.mov", .ok(mov))
        source = LivePhotoSource(urls: ["/photo.heic", "/photo.mov"].map(fixture.origin.url))
    }

    private func store(_ resource: LivePhotoResource, as ext: String?) async throws {
        try await fixture.cache.storeToDisk(
            heic, forKey: resource.dataSource.cacheKey,
            processorIdentifier: LivePhotoResource.processorIdentifier, forcedExtension: ext)
    }

    // MARK: Look-up

    private func resource(_ type: LivePhotoResource.FileType) -> LivePhotoResource {
        LivePhotoResource(downloadURL: fixture.origin.url("/photo"), fileType: type)
    }

    private func file(of resource: LivePhotoResource) -> URL? {
        fixture.cache.possibleCacheFileURLIfOnDisk(resource: resource, options: .standard)
    }

    /// Upstream: testPossibleCacheFileURLIfOnDiskNotCached,
    /// testPossibleCacheFileURLIfOnDiskCachedGuessingFileTypeNotHit
    @Test(arguments: [LivePhotoResource.FileType.heic, .mov, .other(""), .other("m4v")])
    func whatIsNotCachedHasNoFile(type: LivePhotoResource.FileType) {
        #expect(file(of: resource(type)) == nil)
    }

    /// Upstream: testPossibleCacheFileURLIfOnDiskCachedWithExplicitFileType,
    /// testPossibleCacheFileURLIfOnDiskCachedGuessingFileType,
    /// testPossibleCacheFileURLIfOnDiskCachedArbitraryFileType,
    /// testPossibleCacheFileURLIfOnDiskCachedWithWrongFileType
    @Test(
        arguments: [
            ("heic", LivePhotoResource.FileType.heic, true), ("heic", .other(""), true),
            ("mov", .other(""), true), ("myExt", .other("myExt"), true), (nil, .other(""), true),
            (nil, .heic, false),
        ] as [(String?, LivePhotoResource.FileType, Bool)])
    func aFileOfTheTypeIsFound(
        ext: String?, type: LivePhotoResource.FileType, isFound: Bool
    ) async throws {
        try await store(resource(type), as: ext)
        let file = file(of: resource(type))
        #expect(file?.pathExtension == (isFound ? ext ?? "" : nil))
    }

    // MARK: Loading files

    /// Upstream: testDownloadAndCacheLivePhotoResourcesAll,
    /// testDownloadAndCacheLivePhotoWithEmptyResources
    @Test func allFilesAreLoadedAndCachedWithTheirExtensions() async throws {
        let results = try await manager.downloadAndCache(
            resources: source.resources, options: manager.parsedOptions(nil))
        #expect(results.map(\.originalData) == [heic, mov])
        #expect(results.map(\.url) == source.resources.map(\.dataSource.url))
        for (resource, ext) in zip(source.resources, ["heic", "mov"]) {
            let file = fixture.cache.cacheFileURLIfOnDisk(
                forKey: resource.dataSource.cacheKey,
                processorIdentifier: "com.onevcat.Kingfisher.LivePhotoImageProcessor",
                forcedExtension: ext)
            #expect(file != nil)
        }
        let none = try await manager.downloadAndCache(
            resources: [], options: manager.parsedOptions(nil))
        #expect(none.isEmpty && fixture.origin.requestCount == 2)
    }

    /// Upstream: testDownloadAndCacheLivePhotoWithSingleResource,
    /// testDownloadAndCacheLivePhotoWithSingleResourceExplicitSetExtension,
    /// testDownloadAndCacheLivePhotoWithSingleResourceGuessingHEICExtension,
    /// testDownloadAndCacheLivePhotoWithSingleResourceGuessingMOVExtension,
    /// testDownloadAndCacheLivePhotoWithSingleResourceGuessingUnsupportedExtension
    @Test(arguments: [
        ("/photo.heic", LivePhotoResource.FileType.heic, "heic"), ("/photo.mov", .heic, "heic"),
        ("/photo.heic", .other(""), "heic"), ("/photo.mov", .other(""), "mov"),
        ("/photo.png", .other(""), ""),
    ])
    func anExplicitTypeNamesTheFileAndTheBytesThatOfNoType(
        path: String, type: LivePhotoResource.FileType, ext: String
    ) async throws {
        let resource = LivePhotoResource(downloadURL: fixture.origin.url(path), fileType: type)
        let results = try await manager.downloadAndCache(
            resources: [resource], options: manager.parsedOptions(nil))
        #expect(results.count == 1)
        let file = try #require(
            fixture.cache.possibleCacheFileURLIfOnDisk(resource: resource, options: .standard))
        #expect(try Data(contentsOf: file) == results[0].originalData)
        #expect(file.pathExtension == ext)
    }

    // MARK: Whole live photos

    /// Upstream: testRetrieveLivePhotoFromNetwork, testRetrieveLivePhotoNetworkThenCache,
    /// testMissingResourceOfLivePhotoFound, testMissingResourceOfLivePhotoNotFound,
    /// testMissingResourceOfLivePhotoFoundOne, testMissingResourceOfLivePhotoForceRefresh
    @Test func aLivePhotoIsLoadedAndThenFoundOnDisk() async throws {
        let loaded = try await manager.retrieveLivePhoto(with: source)
        #expect(loaded.cacheType == .none && loaded.data() == [heic, mov])
        #expect(try loaded.fileURLs.map { try Data(contentsOf: $0) } == [heic, mov])
        let cached = try await manager.retrieveLivePhoto(with: source)
        #expect(cached.cacheType == .disk && cached.data().isEmpty)
        #expect(cached.fileURLs == loaded.fileURLs && fixture.origin.requestCount == 2)
        let again = try await manager.retrieveLivePhoto(with: source, options: [.forceRefresh])
        #expect(again.cacheType == .none && again.data() == [heic, mov])
        #expect(fixture.origin.requestCount == 4)
    }

    /// Upstream: testRetrieveLivePhotoFromLocal
    @Test func localFilesAreCachedLikeOthers() async throws {
        let files = try [(heic, "a.heic"), (mov, "a.mov")].map {
            try fixture.folder.write($0, to: $1)
        }
        let result = try await manager.retrieveLivePhoto(with: LivePhotoSource(urls: files))
        #expect(result.cacheType == .none && result.data() == [heic, mov])
        #expect(result.fileURLs.map(\.pathExtension) == ["heic", "mov"])
        #expect(fixture.origin.requestCount == 0)
    }

    /// Upstream: testRetrieveLivePhotoMixed
    @Test func onlyWhatIsMissingIsLoaded() async throws {
        let film = try fixture.folder.write(mov, to: "a.mov")
        let source = LivePhotoSource(urls: [fixture.origin.url("/photo.heic"), film])
        try await store(source.resources[0], as: "heic")
        let result = try await manager.retrieveLivePhoto(with: source)
        #expect(result.cacheType == .none && result.data() == [mov])
        #expect(try result.fileURLs.map { try Data(contentsOf: $0) } == [heic, mov])
        #expect(fixture.origin.requestCount == 0)
    }

    @Test func progressIsTheSumOfTheDownloads() async throws {
        let reports = Recorder<[Int64]>()
        let total = Int64(heic.count + mov.count)
        _ = try await manager.retrieveLivePhoto(with: source) { reports.record([$0, $1]) }
        #expect(await reports.wait { $0.contains([total, total]) }.last == [total, total])
    }

    // MARK: Failures

    private func failure(_ options: KingfisherOptionsInfo = []) async -> KingfisherError? {
        await kingfisherError {
            _ = try await manager.retrieveLivePhoto(with: source, options: options)
        }
    }

    @Test func aFailedDownloadFailsTheLivePhoto() async throws {
        fixture.origin.route("/photo.mov", .status(404))
        #expect(await failure()?.isInvalidResponseStatusCode(404) == true)
    }

    @Test func onlyFromCacheLoadsNothing() async throws {
        #expect(await failure([.onlyFromCache])?.errorCode == 3006)
        #expect(fixture.origin.requestCount == 0)
    }

    @Test func aFileThatVanishesIs3012() async throws {
        let error = await failure([.diskCacheExpiration(.expired)])
        #expect(error?.errorCode == 3012)
        #expect(error?.errorDescription?.contains("/photo.heic") == true)
    }

    @Test func aLivePhotoNobodyWantsAnyMoreIs5005WithItsFiles() async throws {
        let error = await kingfisherError {
            _ = try await manager.retrieveLivePhoto(
                with: source, referenceTaskIdentifierChecker: { false })
        }
        #expect(error?.errorCode == 5005)
        guard
            case .imageSettingError(reason: .notCurrentLivePhotoSourceTask(let result, _, _)) =
                error
        else { throw Unexpected(error) }
        #expect(result?.fileURLs.count == 2)
    }

    @Test func cancellingTheTaskIs1004() async throws {
        fixture.origin.route("/photo.mov", .ok(mov).with(.wait(.gate(Gate()))))
        let task = Task { [manager, source] in
            try await manager.retrieveLivePhoto(with: source).cacheType
        }
        await fixture.origin.waitForRequests(1, path: "/photo.mov")
        task.cancel()
        let error = await kingfisherError { _ = try await task.value }
        #expect(error?.errorCode == 1004)
        #expect(error?.isCancelled == true && error?.isTaskCancelled == false)
    }

    @Test func resultErrorsHaveTheirCode() {
        let error = KingfisherError.imageSettingError(
            reason: .livePhotoResultError(result: nil, error: nil, source: source))
        #expect(error.errorCode == 5006 && error.errorDescription?.contains("/photo.heic") == true)
    }

    // MARK: The downloader

    /// Upstream: testDownloadingLivePhotoResources
    @Test func theDownloaderGivesBytesAndURL() async throws {
        let url = fixture.origin.url("/photo.mov")
        let options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        let result = try await fixture.downloader.downloadLivePhotoResource(
            with: url, options: options)
        #expect(result.originalData == mov && result.url == url)
        let data: Data? = await handedOver { hand in
            let task = fixture.downloader.downloadLivePhotoResource(with: url, options: options) {
                hand(try? $0.get().originalData)
            }
            #expect(task.isInitialized)
        }
        #expect(data == mov)
    }
}
