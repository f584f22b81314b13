import Dispatch
import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageBinderTests {
    private let binder = ImageBinder()
    private let renderer = HeadlessImageRenderer()
    private let fixture: PresentationFixture

    init() async throws {
        fixture = try await PresentationFixture()
        binder.renderer = renderer
    }

    private func image(_ url: URL?) -> KFImage {
        KFImage(url).targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
    }

    private var photo: KFImage { image(fixture.url(width: 3)) }

    /// Starts `image`; what it ends with, and the binder's state when that was told.
    private func run(_ image: KFImage) async -> (result: SettingResult, wasLoaded: Bool) {
        await withCheckedContinuation { continuation in
            let image = image.onSuccess { [binder] in
                continuation.resume(returning: (.success($0), binder.isLoaded))
            }.onFailure { [binder] in
                continuation.resume(returning: (.failure($0), binder.isLoaded))
            }
            binder.appear(image.context)
        }
    }

    /// Upstream: testFadeCallsSuccessAfterMarkingLoadedOnCustomCallbackQueue,
    /// testLoadTransitionCallsSuccessAfterMarkingLoadedOnCustomCallbackQueue
    @Test(arguments: [false, true])
    func anImageWithATransitionIsLoadedBeforeSuccessIsTold(isLoadTransition: Bool) async throws {
        let image = photo.callbackQueue(.dispatch(DispatchQueue(label: "custom")))
        let (result, wasLoaded) = await run(
            isLoadTransition ? image.loadTransition(.flipFromLeft(1)) : image.fade(duration: 1))
        #expect(result.value?.cacheType == CacheType.none)
        #expect(wasLoaded && binder.presentation.image === result.value?.image)
    }

    /// Upstream: testPlaceholderDefinesLayoutWhenLoadedImageIsNil
    @Test func thePlaceholderDefinesTheLayoutUntilThereIsAnImage() async throws {
        fixture.hold()
        binder.appear(photo.context)
        #expect(binder.presentation.overlay == .placeholder)
        #expect(!binder.presentation.imageDefinesLayout && binder.presentation.image == nil)
        binder.cancel()
    }

    /// Upstream: testFailureViewDefinesLayoutWhenLoadedImageIsNil,
    /// testFailureViewDefinesLayoutWithLoadTransitionWhenLoadedImageIsNil
    @Test(arguments: [false, true])
    func theFailureViewDefinesTheLayout(hasTransition: Bool) async throws {
        let image = image(fixture.missing).onFailureView { HeadlessLabel() }
            .onFailureImage(PresentationFixture.image(width: 30))
        let (result, _) = await run(hasTransition ? image.loadTransition(.fade(1)) : image)
        #expect(result.error?.isInvalidResponseStatusCode(404) == true)
        #expect(binder.presentation.overlay == .failureView)
        #expect(!binder.presentation.imageDefinesLayout && binder.presentation.image == nil)
    }

    /// Upstream: testFadeRestoresImageLayoutBeforeAnimationBegins
    @Test func aFadingImageTakesItsPlaceBeforeItIsSeen() async throws {
        _ = await run(photo.fade(duration: 1))
        let frames = renderer.frames.suffix(2).map(\.presentation)
        #expect(frames.map(\.imageDefinesLayout) == [true, true])
        #expect(frames.map(\.isImageVisible) == [false, true])
        #expect(frames.map(\.overlay) == [.none, .none])
    }

    /// Upstream: testLoadTransitionKeepsPlaceholderWhileImageIsPrepared
    @Test func aLoadTransitionKeepsThePlaceholderUntilItBegins() async throws {
        _ = await run(photo.loadTransition(.fade(1)))
        let frames = renderer.frames.suffix(2).map(\.presentation)
        #expect(frames.map(\.overlay) == [.placeholder, .none])
        #expect(frames.map(\.imageDefinesLayout) == [false, true])
        #expect(frames.map { $0.image != nil } == [true, true])
        #expect(frames.map(\.isImageVisible) == [false, true])
    }

    /// Upstream: testFadeUsesFadePathForNonCachedImage
    @Test func aFreshImageFadesAndACachedOneDoesNot() async throws {
        let description = photo.fade(duration: 2)
        _ = await run(description)
        #expect(renderer.frames.map(\.transition.duration).last == 2)
        let (again, frames) = (ImageBinder(), HeadlessImageRenderer())
        again.renderer = frames
        again.appear(description.context)
        #expect(again.isLoaded && frames.frames.map(\.transition.duration) == [0, 0])
    }

    /// Upstream: testLoadTransitionUsesLoadTransitionPathForNonCachedImage
    @Test func aLoadTransitionWinsOverAFade() async throws {
        let (result, _) = await run(photo.fade(duration: 2).loadTransition(.flipFromTop(5)))
        #expect(result.value?.cacheType == CacheType.none)
        let last = try #require(renderer.frames.last?.transition)
        #expect(last.duration == 5 && last.animationOptions == .transitionFlipFromTop)
    }

    /// Upstream: testRendererKeepsImageBranchBeforeImageLoads
    @Test func nothingIsSeenButThePlaceholderBeforeAnythingWasStarted() {
        #expect(binder.presentation.overlay == .placeholder)
        #expect(!binder.presentation.isImageVisible && !binder.presentation.imageDefinesLayout)
        #expect(renderer.frames.isEmpty)
    }

    /// Upstream: testExternalTransitionPreservesCachedImageInsertion
    @Test func anImageInMemoryIsThereWhenTheViewAppears() async throws {
        _ = await fixture.show(fixture.url(width: 3), in: HeadlessImageView())
        binder.appear(photo.loadTransition(.fade(1)).context)
        #expect(binder.isLoaded && binder.presentation.image?.pixelSize.width == 3)
        #expect(renderer.frames.last?.transition.duration == 0)
    }

    @Test func progressIsToldToTheRendererAndTheCaller() async throws {
        let calls = Recorder<Int64>()
        _ = await run(photo.onProgress { received, _ in calls.record(received) })
        let size = Int64(PresentationFixture.png(width: 3).count)
        #expect(calls.events.last == size && binder.progress.completedUnitCount == size)
        #expect(binder.progress.totalUnitCount == size)
    }

    @Test func noSourceFails() async {
        let nothing: URL? = nil
        let (result, _) = await run(KFImage(nothing).onFailureView { HeadlessLabel() })
        #expect(result.error?.errorCode == 5001)
        #expect(binder.presentation.overlay == .failureView && !binder.isLoadingOrLoaded)
    }

    @Test func theFailureImageIsShownWhenThereIsNoFailureView() async throws {
        let failed = PresentationFixture.image(width: 30)
        _ = await run(image(fixture.missing).onFailureImage(failed))
        #expect(binder.presentation.image === failed && binder.presentation.imageDefinesLayout)
        #expect(!binder.isLoaded)
    }

    @Test func leavingTheScreenCancelsOnlyWhenAskedAndComingBackStartsAgain() async throws {
        let gate = fixture.hold()
        let errors = Recorder<Int>()
        let loaded = Recorder<Int>()
        let description = photo.onFailureView { HeadlessLabel() }
            .onFailure { errors.record($0.errorCode) }
            .onSuccess { loaded.record($0.image.pixelSize.width) }
        binder.appear(description.context)
        binder.disappear(description.context)
        #expect(binder.isLoadingOrLoaded)

        let cancelling = description.cancelOnDisappear(true)
        binder.disappear(cancelling.context)
        #expect(!binder.isLoadingOrLoaded)
        #expect(await errors.waitFor(count: 1) == [1003])
        #expect(binder.presentation.overlay == .placeholder)

        binder.appear(cancelling.context)
        #expect(binder.isLoadingOrLoaded)
        gate.open()
        #expect(await loaded.waitFor(count: 1) == [3])
        binder.disappear(cancelling.context)
        binder.appear(cancelling.context)
        #expect(binder.isLoaded && loaded.count == 1)
    }

    @Test func aDownloadNobodyLooksAtIsLessUrgentWhenAsked() async throws {
        let gate = fixture.hold()
        let loaded = Recorder<Int>()
        let modifier = HeldModifier()
        let plain = photo.downloadPriority(0.75).requestModifier(modifier)
            .onSuccess { loaded.record($0.image.pixelSize.width) }
        let description = plain.reducePriorityOnDisappear(true)
        binder.appear(description.context)
        let task = try #require(await modifier.started.waitFor(count: 1)[0]?.sessionTask)
        #expect(task.priority == 0.75)
        binder.disappear(plain.context)
        #expect(task.priority == 0.75)
        binder.disappear(description.context)
        #expect(task.priority == 0.25 && binder.isLoadingOrLoaded)
        binder.appear(description.context)
        #expect(task.priority == 0.75)
        binder.disappear(description.downloadPriority(0.1).context)
        #expect(task.priority == 0.1)
        gate.open()
        #expect(await loaded.waitFor(count: 1) == [3])
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func theHintsForDrawingReachTheRenderer() async throws {
        let description = photo.resizable().interpolation(.none)
        _ = await run(description)
        let hints = renderer.frames.map(\.presentation.rendering)
        #expect(!hints.isEmpty && hints.allSatisfy { $0 == description.context.rendering })
        let count = renderer.frames.count
        binder.appear(description.context)
        #expect(renderer.frames.count == count)
        binder.appear(description.antialiased(true).context)
        #expect(renderer.frames.count == count + 1)
        #expect(renderer.frames.last?.presentation.rendering.isAntialiased == true)
        #expect(renderer.frames.last?.presentation.image?.pixelSize.width == 3)
    }

    @Test func anAnimatedImageIsLoadedWithoutDecodingItsFrames() async throws {
        fixture.origin.route("/motion.gif", .ok(Grays.gif(3)))
        let done = Recorder<SettingResult>()
        let description = KFAnimatedImage(fixture.origin.url("/motion.gif"))
            .targetCache(fixture.cache).downloader(fixture.downloader)
            .onSuccess { done.record(.success($0)) }.onFailure { done.record(.failure($0)) }
        binder.appear(description.context)
        let image = try #require(await done.waitFor(count: 1)[0].value?.image)
        #expect(image.animatedSource?.frameCount == 3 && !image.creatingOptions.preloadAll)
        #expect(renderer.frames.last?.presentation.rendering.isAnimated == true)
        #expect(Animator(image: image).frameCount == 3)
    }

    @Test func loadingBeginsBeforeTheViewAppearsWhenAsked() async throws {
        fixture.hold()
        binder.prepare(photo.context)
        #expect(!binder.isLoadingOrLoaded)
        binder.prepare(photo.startLoadingBeforeViewAppear().context)
        #expect(binder.isLoadingOrLoaded)
        binder.cancel()
    }
}
