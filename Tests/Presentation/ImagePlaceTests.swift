import Dispatch
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What every place of an image has to do.
@MainActor @Suite struct ImagePlaceTests {
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Upstream: testImageDownloadForImageView, testImageDownloadCompletionHandlerRunningOnMainQueue,
    /// testDownloadAndSetImage (UIButtonExtensionTests),
    /// testDownloadAndSetBackgroundImage, testDownloadAndSetImage (NSButtonExtensionTests),
    /// testDownloadAndSetAlternateImage
    @Test(arguments: ImagePlace.all)
    func aDownloadedImageIsShownAfterItsProgressOnMain(_ kind: ImagePlace) async throws {
        let place = kind.make()
        let progress = Recorder<Int64>()
        let elsewhere = CallbackQueue.dispatch(DispatchQueue(label: "elsewhere"))
        _ = place.set(
            fixture.url(width: 3), fixture.using([.callbackQueue(elsewhere)]),
            { received, _ in
                #expect(results.count == 0 && MainQueue.isCurrent)
                progress.record(received)
            },
            { result in
                #expect(MainQueue.isCurrent)
                results.add()(result)
            })
        #expect(place.identifier() != nil)
        let result = await results.wait(for: 1)[0]
        #expect(progress.events.last == Int64(PresentationFixture.png(width: 3).count))
        #expect(result.value?.cacheType == CacheType.none)
        #expect(result.width == 3 && place.shown() === result.value?.image)
        #expect(place.identifier() == nil && place.isAlone())
    }

    /// Upstream: testCancelImageTask (ImageViewExtensionTests),
    /// testCancelImageTask (UIButtonExtensionTests), testCancelBackgroundImageTask,
    /// testCancelImageTask (NSButtonExtensionTests), testCancelAlternateImageTask
    @Test(arguments: ImagePlace.all)
    func cancellingIsANormalFailure(_ kind: ImagePlace) async throws {
        fixture.hold()
        let place = kind.make()
        let failed = PresentationFixture.image(width: 9)
        let options = fixture.using([.onFailureImage(failed)])
        _ = place.set(fixture.url(width: 3), options, nil, results.add())
        await fixture.origin.waitForRequests(1)
        place.cancel()
        place.cancel()
        #expect(await results.wait(for: 1)[0].error?.isTaskCancelled == true)
        #expect(place.shown() === failed && place.identifier() == nil && results.count == 1)
    }

    /// Upstream: testSettingNilURL (ImageViewExtensionTests), testSettingNilURL (UIButtonExtensionTests),
    /// testSettingNilURL (NSButtonExtensionTests)
    @Test(arguments: ImagePlace.all)
    func noSourceFailsAtOnce(_ kind: ImagePlace) async throws {
        let place = kind.make()
        _ = place.set(fixture.url(width: 3), fixture.options, nil, results.add(0))
        _ = await results.wait(for: 1)
        #expect(place.set(nil, [], { _, _ in Issue.record("no progress") }, results.add(1)) == nil)
        #expect(results.count == 2)
        #expect(await results.wait(for: 2)[1].error?.errorCode == 5001)
        #expect(place.identifier() == nil && place.shown() == nil)
    }

    /// Upstream: testSettingNonWorkingImageWithFailureImage (UIButtonExtensionTests),
    /// testSettingNonWorkingBackgroundImageWithFailureImage,
    /// testSettingNonWorkingImageWithFailureImage (NSButtonExtensionTests),
    /// testSettingNonWorkingAlternateImageWithFailureImage
    @Test(arguments: ImagePlace.all)
    func theFailureImageIsShown(_ kind: ImagePlace) async throws {
        let place = kind.make()
        let failed = PresentationFixture.image(width: 30)
        _ = place.set(fixture.missing, fixture.using([.onFailureImage(failed)]), nil, results.add())
        #expect(place.shown() == nil)
        #expect(await results.wait(for: 1)[0].error?.isInvalidResponseStatusCode(404) == true)
        #expect(place.shown() === failed)
    }

    /// Upstream: testStaleDiskCacheRetrievalDoesNotPromoteToMemoryWhenSuperseded,
    /// testSettingTwoDiskCachedImagesOnSameViewCallsEachCompletionExactlyOnce,
    /// testSupersededDiskCachedImageDoesNotPromoteToMemory,
    /// testSupersededDiskCachedAlternateImageDoesNotPromoteToMemory
    @Test(.holdingThreads, arguments: ImagePlace.all)
    func aSupersededDiskImageIsNotPutIntoMemory(_ kind: ImagePlace) async throws {
        try await fixture.cacheOnDisk(width: 1)
        try await fixture.cacheOnDisk(width: 2)
        let place = kind.make()
        let held = HeldSerializer()
        let options = fixture.using([.cacheSerializer(held)])
        _ = place.set(fixture.url(width: 1), options, nil, results.add(0))
        try await held.waitUntilReading()
        _ = place.set(fixture.url(width: 2), fixture.options, nil, results.add(1))
        held.letGoOn()
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].width == 2 && all[1].value?.cacheType == .disk)
        #expect(place.shown()?.pixelSize.width == 2 && results.count == 2)
        #expect(fixture.cachedType(width: 1) == .disk && fixture.cachedType(width: 2) == .memory)
        #expect(fixture.origin.requestCount == 0)
    }

    /// Upstream: testCancelDownloadTaskCancelsDiskCacheRetrieval,
    /// testCancelBackgroundImageTaskCancelsDiskCacheRetrieval,
    /// testCancelImageTaskCancelsDiskCacheRetrieval
    @Test(.holdingThreads, arguments: ImagePlace.all)
    func cancellingDuringADiskReadKeepsTheImageOutOfMemory(_ kind: ImagePlace) async throws {
        try await fixture.cacheOnDisk(width: 1)
        let place = kind.make()
        let held = HeldSerializer()
        let options = fixture.using([.cacheSerializer(held)])
        _ = place.set(fixture.url(width: 1), options, nil, results.add())
        try await held.waitUntilReading()
        place.cancel()
        held.letGoOn()
        #expect(await results.wait(for: 1)[0].error?.errorCode == 3006)
        #expect(fixture.cachedType(width: 1) == .disk && place.shown() == nil)
    }
}
