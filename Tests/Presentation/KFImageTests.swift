import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct KFImageTests {
    private let image = KFImage(URL(string: "http://example.com/image.png"))

    @Test func diskImagesAreReadAtOnce() {
        #expect(image.options.loadDiskFileSynchronously)
    }

    @available(*, deprecated) @Test func loadingImmediatelyChangesNothing() {
        let url = URL(string: "http://example.com/image.png")
        #expect(image.loadImmediately().loadImmediately(false).context === image.context)
        #expect(KFAnimatedImage(url).loadImmediately().context.source == image.context.source)
        let builder = KF.url(url)
        #expect(builder.loadImmediately() === builder)
    }

    @Test func closuresOfDelegatesMayBeSetOnTheirObserver() {
        let calls = Recorder<Int>()
        image.onFailureDelegate.delegate(on: image.delegateObserver) {
            (_, error: KingfisherError) in calls.record(error.errorCode)
        }
        let builder = KF.url(nil)
        builder.onFailureDelegate.delegate(on: builder.delegateObserver) {
            (_, error: KingfisherError) in calls.record(-error.errorCode)
        }
        let error = KingfisherError.imageSettingError(reason: .emptySource)
        image.fade(duration: 1).onFailureDelegate.call(error)
        builder.onFailureDelegate.call(error)
        #expect(calls.events == [5001, -5001])
    }

    /// Upstream: testKFImageContextModifiersDoNotMutateOriginalImage
    @Test func modifiersOfTheContextLeaveTheOriginalAlone() {
        let changed = image.cancelOnDisappear(true).startLoadingBeforeViewAppear()
            .placeholder { HeadlessLabel() }.onFailureView { HeadlessLabel() }
            .loadTransition(.fade(1)).configure { _ in }.contentConfigure { $0 }
            .reducePriorityOnDisappear(true).resizable()
        let (old, new) = (image.context, changed.context)
        #expect(!old.cancelOnDisappear && new.cancelOnDisappear)
        #expect(!old.startLoadingBeforeViewAppear && new.startLoadingBeforeViewAppear)
        #expect(old.placeholder == nil && new.placeholder != nil)
        #expect(old.failureView == nil && new.failureView != nil)
        #expect(old.loadTransition == nil && new.loadTransition != nil)
        #expect(old.configurations.isEmpty && new.configurations.count == 1)
        #expect(old.contentConfiguration == nil && new.contentConfiguration != nil)
        #expect(!old.reducePriorityOnDisappear && new.reducePriorityOnDisappear)
        #expect(old.rendering.resizing == nil && new.rendering.resizing != nil)
    }

    /// Upstream: testKFImageOptionModifiersDoNotMutateOriginalImage,
    /// testKFImageOnFailureImageDoesNotMutateOriginalImage
    @Test func settersOfOptionsLeaveTheOriginalAlone() {
        let failed = PresentationFixture.image(width: 2)
        let changed = image.forceRefresh().scaleFactor(3).fade(duration: 2).blur(radius: 4)
            .onFailureImage(failed)
        #expect(!image.options.forceRefresh && changed.options.forceRefresh)
        #expect(image.options.scaleFactor == 1 && changed.options.scaleFactor == 3)
        #expect(image.options.transition.duration == 0 && changed.options.transition.duration == 2)
        #expect(image.options.processor.identifier.isEmpty)
        #expect(!changed.options.processor.identifier.isEmpty)
        #expect(image.options.onFailureImage == nil)
        #expect(changed.options.onFailureImage.map { $0 === failed } == true)
    }

    /// Upstream: testKFImageCallbackModifiersDoNotShareDelegateState
    @Test func siblingsHaveCallbacksOfTheirOwn() {
        let calls = Recorder<String>()
        let base = image.onFailure { _ in calls.record("base") }
        let sibling = base.onFailure { _ in calls.record("sibling") }
        let error = KingfisherError.imageSettingError(reason: .emptySource)
        base.onFailureDelegate.call(error)
        sibling.onFailureDelegate.call(error)
        image.onFailureDelegate.call(error)
        #expect(calls.events == ["base", "sibling"])
    }

    /// Upstream: testKFImageModifierChainPreservesEarlierSettings
    @Test func laterModifiersKeepEarlierSettings() {
        let calls = Recorder<String>()
        let chained = image.onSuccess { _ in calls.record("success") }
            .onProgress { _, _ in calls.record("progress") }
            .cancelOnDisappear(true).forceRefresh().placeholder { HeadlessLabel() }
            .configure { _ in calls.record("first") }.configure { _ in calls.record("second") }
            .fade(duration: 1)
        #expect(chained.context.cancelOnDisappear && chained.context.placeholder != nil)
        #expect(chained.options.forceRefresh && chained.options.transition.duration == 1)
        chained.onProgressDelegate.call((1, 2))
        for configure in chained.context.configurations { configure(HeadlessImageView()) }
        #expect(calls.events == ["progress", "first", "second"])
        #expect(chained.onSuccessDelegate.isSet)
    }

    @Test func theHintsForDrawingAreValues() {
        #expect(image.context.rendering == KFImage.Rendering())
        let insets = KFImage.EdgeInsets(top: 1, leading: 2, bottom: 3, trailing: 4)
        let changed = image.resizable(capInsets: insets, resizingMode: .tile)
            .renderingMode(.template).interpolation(.high).antialiased(false)
        var expected = KFImage.Rendering()
        expected.resizing = KFImage.Resizing(capInsets: insets, mode: .tile)
        expected.mode = .template
        expected.interpolation = .high
        expected.isAntialiased = false
        #expect(changed.context.rendering == expected)
        #expect(
            image.resizable().context.rendering.resizing
                == KFImage.Resizing(capInsets: KFImage.EdgeInsets(), mode: .stretch))
        #expect(changed.renderingMode(nil).context.rendering.mode == nil)
    }

    @Test func anAnimationChangesHowATransitionRuns() throws {
        func transition(_ animation: KFImage.Animation?) -> ImageTransition? {
            image.loadTransition(.flipFromTop(2), animation: animation).context.loadTransition
        }
        let transitions: [(KFImage.Animation, Double, ImageTransition.AnimationOptions)] = [
            (.default, 2, []), (.easeIn(duration: 5), 5, .curveEaseIn),
            (.linear(), 2, .curveLinear),
        ]
        for (animation, duration, curve) in transitions {
            let changed = try #require(transition(animation))
            #expect(changed.duration == duration)
            #expect(changed.animationOptions == [.transitionFlipFromTop, curve])
        }
        #expect(transition(nil)?.duration == 0)
    }

    @Test func anAnimationKeepsWhatACustomTransitionDoes() throws {
        let calls = Recorder<Bool>()
        let custom = ImageTransition.custom(
            duration: 1, options: [.curveLinear, .transitionCrossDissolve],
            animations: { view, _ in view.isHidden = true },
            completion: { calls.record($0) })
        let changed = try #require(
            image.loadTransition(custom, animation: .easeInOut()).context.loadTransition)
        #expect(
            changed.animationOptions == [.curveEaseIn, .curveEaseOut, .transitionCrossDissolve])
        let view = HeadlessImageView()
        changed.apply(PresentationFixture.image(width: 2), to: view)
        changed.ended(finished: false)
        #expect(view.isHidden && calls.events == [false])
    }

    @Test func anAnimatedImageHasTheSameModifiersAndIsPlayed() throws {
        let url = try #require(URL(string: "http://example.com/image.gif"))
        let animated = KFAnimatedImage(url)
        let changed = animated.cancelOnDisappear(true).fade(duration: 1).forceRefresh()
            .placeholder { HeadlessLabel() }.configure { $0.isHidden = true }
        #expect(animated.context.rendering.isAnimated && changed.context.rendering.isAnimated)
        #expect(!image.context.rendering.isAnimated)
        #expect(!animated.context.cancelOnDisappear && changed.context.cancelOnDisappear)
        #expect(changed.options.forceRefresh && changed.context.configurations.count == 1)
        #expect(changed.options.loadDiskFileSynchronously)
        #expect(KFAnimatedImage.url(url, cacheKey: "key").context.source?.cacheKey == "key")
        #expect(
            KFAnimatedImage.data(Data([1]), cacheKey: "data").context.source?.cacheKey == "data")
    }

    @Test func contextsAreEqualWithSourceAndProcessor() {
        let url = URL(string: "http://example.com/image.png")
        let same = KFImage(url).forceRefresh()
        #expect(image.context == same.context && Set([image.context, same.context]).count == 1)
        #expect(image.context != image.blur(radius: 1).context)
        #expect(image.context != KFImage(URL(string: "http://example.com/other.png")).context)
    }
}
