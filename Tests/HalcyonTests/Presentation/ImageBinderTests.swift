import Dispatch
import Foundation
import HalcyonPresentationTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageBinderTests {
    private let binder = ImageBinder()
    private let renderer = HeadlessImageRenderer()

    init() {
        binder.renderer = renderer
    }

    private func image(_ url: URL?, _ fixture: PresentationFixture) -> KFImage {
        KFImage(url).targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
    }

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

    /// Upstream: testFadeCallsSuccessAfterMarkingLoadedOnCustomCallbackQueue
    @Test func aFadedImageIsLoadedBeforeSuccessIsTold() async throws {
        let fixture = try await PresentationFixture()
        let queue = DispatchQueue(label: "custom")
        let (result, wasLoaded) = await run(
            image(fixture.url(width: 3), fixture).callbackQueue(.dispatch(queue)).fade(duration: 1))
        #expect(result.value?.cacheType == CacheType.none)
        #expect(wasLoaded && binder.presentation.image === result.value?.image)
    }

    /// Upstream: testLoadTransitionCallsSuccessAfterMarkingLoadedOnCustomCallbackQueue
    @Test func aMovedInImageIsLoadedBeforeSuccessIsTold() async throws {
        let fixture = try await PresentationFixture()
        let queue = DispatchQueue(label: "custom")
        let (result, wasLoaded) = await run(
            image(fixture.url(width: 3), fixture).callbackQueue(.dispatch(queue))
                .loadTransition(.flipFromLeft(1)))
        #expect(result.value?.cacheType == CacheType.none)
        #expect(wasLoaded && binder.presentation.image === result.value?.image)
    }

    /// Upstream: testPlaceholderDefinesLayoutWhenLoadedImageIsNil
    @Test func thePlaceholderDefinesTheLayoutUntilThereIsAnImage() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        binder.appear(image(fixture.url(width: 3), fixture).context)
        #expect(binder.presentation.overlay == .placeholder)
        #expect(!binder.presentation.imageDefinesLayout && binder.presentation.image == nil)
        binder.cancel()
    }

    /// Upstream: testFailureViewDefinesLayoutWhenLoadedImageIsNil
    @Test func theFailureViewDefinesTheLayout() async throws {
        let fixture = try await PresentationFixture()
        let failed = PresentationFixture.image(width: 30)
        let (result, _) = await run(
            image(fixture.missing, fixture).onFailureView { HeadlessLabel() }
                .onFailureImage(failed))
        #expect(result.error?.isInvalidResponseStatusCode(404) == true)
        #expect(binder.presentation.overlay == .failureView)
        #expect(!binder.presentation.imageDefinesLayout && binder.presentation.image == nil)
    }

    /// Upstream: testFailureViewDefinesLayoutWithLoadTransitionWhenLoadedImageIsNil
    @Test func theFailureViewDefinesTheLayoutWithALoadTransitionToo() async throws {
        let fixture = try await PresentationFixture()
        _ = await run(
            image(fixture.missing, fixture).onFailureView { HeadlessLabel() }
                .loadTransition(.fade(1)))
        #expect(binder.presentation.overlay == .failureView)
        #expect(!binder.presentation.imageDefinesLayout)
    }

    /// Upstream: testFadeRestoresImageLayoutBeforeAnimationBegins
    @Test func aFadingImageTakesItsPlaceBeforeItIsSeen() async throws {
        let fixture = try await PresentationFixture()
        _ = await run(image(fixture.url(width: 3), fixture).fade(duration: 1))
        let frames = renderer.frames.suffix(2).map(\.presentation)
        #expect(frames.map(\.imageDefinesLayout) == [true, true])
        #expect(frames.map(\.isImageVisible) == [false, true])
        #expect(frames.map(\.overlay) == [.none, .none])
    }

    /// Upstream: testLoadTransitionKeepsPlaceholderWhileImageIsPrepared
    @Test func aLoadTransitionKeepsThePlaceholderUntilItBegins() async throws {
        let fixture = try await PresentationFixture()
        _ = await run(image(fixture.url(width: 3), fixture).loadTransition(.fade(1)))
        let frames = renderer.frames.suffix(2).map(\.presentation)
        #expect(frames.map(\.overlay) == [.placeholder, .none])
        #expect(frames.map(\.imageDefinesLayout) == [false, true])
        #expect(frames.map { $0.image != nil } == [true, true])
        #expect(frames.map(\.isImageVisible) == [false, true])
    }

    /// Upstream: testFadeUsesFadePathForNonCachedImage
    @Test func aFreshImageFadesAndACachedOneDoesNot() async throws {
        let fixture = try await PresentationFixture()
        let description = image(fixture.url(width: 3), fixture).fade(duration: 2)
        _ = await run(description)
        #expect(renderer.frames.map(\.transition.duration).last == 2)
        let again = ImageBinder()
        let frames = HeadlessImageRenderer()
        again.renderer = frames
        again.appear(description.context)
        #expect(again.isLoaded)
        #expect(frames.frames.map(\.transition.duration) == [0, 0])
    }

    /// Upstream: testLoadTransitionUsesLoadTransitionPathForNonCachedImage
    @Test func aLoadTransitionWinsOverAFade() async throws {
        let fixture = try await PresentationFixture()
        let (result, _) = await run(
            image(fixture.url(width: 3), fixture).fade(duration: 2)
                .loadTransition(.flipFromTop(5)))
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
        let fixture = try await PresentationFixture()
        _ = await fixture.show(fixture.url(width: 3), in: HeadlessImageView())
        binder.appear(image(fixture.url(width: 3), fixture).loadTransition(.fade(1)).context)
        #expect(binder.isLoaded && binder.presentation.image?.pixelSize.width == 3)
        #expect(renderer.frames.last?.transition.duration == 0)
    }

    @Test func progressIsToldToTheRendererAndTheCaller() async throws {
        let fixture = try await PresentationFixture()
        let calls = Recorder<Int64>()
        _ = await run(
            image(fixture.url(width: 3), fixture).onProgress { received, _ in
                calls.record(received)
            })
        let size = Int64(PresentationFixture.png(width: 3).count)
        #expect(calls.events.last == size)
        #expect(binder.progress.completedUnitCount == size)
        #expect(binder.progress.totalUnitCount == size)
    }

    @Test func noSourceFails() async {
        let nothing: URL? = nil
        let (result, _) = await run(KFImage(nothing).onFailureView { HeadlessLabel() })
        #expect(result.error?.errorCode == 5001)
        #expect(binder.presentation.overlay == .failureView && !binder.isLoadingOrLoaded)
    }

    @Test func theFailureImageIsShownWhenThereIsNoFailureView() async throws {
        let fixture = try await PresentationFixture()
        let failed = PresentationFixture.image(width: 30)
        _ = await run(image(fixture.missing, fixture).onFailureImage(failed))
        #expect(binder.presentation.image === failed && binder.presentation.imageDefinesLayout)
        #expect(!binder.isLoaded)
    }

    @Test func leavingTheScreenCancelsOnlyWhenAskedAndComingBackStartsAgain() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let errors = Recorder<Int>()
        let loaded = Recorder<Int>()
        let description = image(fixture.url(width: 3), fixture).onFailureView { HeadlessLabel() }
            .onFailure { errors.record($0.errorCode) }
            .onSuccess { loaded.record($0.image.pixelSize.width) }
        binder.appear(description.context)
        binder.disappear(description.context)
        #expect(binder.isLoadingOrLoaded)

        let cancelling = description.cancelOnDisappear(true)
        binder.disappear(cancelling.context)
        #expect(!binder.isLoadingOrLoaded)
        await errors.waitFor(count: 1)
        #expect(errors.events == [1003])
        #expect(binder.presentation.overlay == .placeholder)

        binder.appear(cancelling.context)
        #expect(binder.isLoadingOrLoaded)
        gate.open()
        #expect(await loaded.waitFor(count: 1) == [3])
        binder.disappear(cancelling.context)
        binder.appear(cancelling.context)
        #expect(binder.isLoaded && loaded.count == 1)
    }

    @Test func loadingBeginsBeforeTheViewAppearsWhenAsked() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let description = image(fixture.url(width: 3), fixture)
        binder.prepare(description.context)
        #expect(!binder.isLoadingOrLoaded)
        binder.prepare(description.startLoadingBeforeViewAppear().context)
        #expect(binder.isLoadingOrLoaded)
        binder.cancel()
    }
}
