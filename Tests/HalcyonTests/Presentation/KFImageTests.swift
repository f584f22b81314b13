import Foundation
import HalcyonPresentationTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct KFImageTests {
    private let image = KFImage(URL(string: "http://example.com/image.png"))

    @Test func diskImagesAreReadAtOnce() {
        #expect(image.options.loadDiskFileSynchronously)
    }

    /// Upstream: testKFImageContextModifiersDoNotMutateOriginalImage
    @Test func modifiersOfTheContextLeaveTheOriginalAlone() {
        let changed = image.cancelOnDisappear(true).startLoadingBeforeViewAppear()
            .placeholder { HeadlessLabel() }.onFailureView { HeadlessLabel() }
            .loadTransition(.fade(1)).configure { _ in }.contentConfigure { $0 }
        let (old, new) = (image.context, changed.context)
        #expect(!old.cancelOnDisappear && new.cancelOnDisappear)
        #expect(!old.startLoadingBeforeViewAppear && new.startLoadingBeforeViewAppear)
        #expect(old.placeholder == nil && new.placeholder != nil)
        #expect(old.failureView == nil && new.failureView != nil)
        #expect(old.loadTransition == nil && new.loadTransition != nil)
        #expect(old.configurations.isEmpty && new.configurations.count == 1)
        #expect(old.contentConfiguration == nil && new.contentConfiguration != nil)
    }

    /// Upstream: testKFImageOptionModifiersDoNotMutateOriginalImage
    @Test func settersOfOptionsLeaveTheOriginalAlone() {
        let changed = image.forceRefresh().scaleFactor(3).fade(duration: 2).blur(radius: 4)
        #expect(!image.options.forceRefresh && changed.options.forceRefresh)
        #expect(image.options.scaleFactor == 1 && changed.options.scaleFactor == 3)
        #expect(image.options.transition.duration == 0 && changed.options.transition.duration == 2)
        #expect(image.options.processor.identifier.isEmpty)
        #expect(!changed.options.processor.identifier.isEmpty)
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

    /// Upstream: testKFImageOnFailureImageDoesNotMutateOriginalImage
    @Test func theFailureImageOfAnotherIsItsOwn() {
        let failed = PresentationFixture.image(width: 2)
        let changed = image.onFailureImage(failed)
        #expect(image.options.onFailureImage == nil)
        #expect(
            changed.options.onFailureImage?.map { ObjectIdentifier($0) }
                == ObjectIdentifier(failed))
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

    @Test func contextsAreEqualWithSourceAndProcessor() {
        let url = URL(string: "http://example.com/image.png")
        let same = KFImage(url).forceRefresh()
        #expect(image.context == same.context)
        #expect(Set([image.context, same.context]).count == 1)
        #expect(image.context != image.blur(radius: 1).context)
        #expect(image.context != KFImage(URL(string: "http://example.com/other.png")).context)
    }
}
