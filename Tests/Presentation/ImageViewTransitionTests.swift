import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageViewTransitionTests {
    private let clock = ManualClock()
    private let view: HeadlessImageView
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws {
        fixture = try await PresentationFixture()
        view = HeadlessImageView(clock: clock)
    }

    @Test func onlyImagesFromNoCacheNeedATransitionUnlessItIsForced() {
        let plain = KingfisherParsedOptionsInfo([.transition(.fade(1))])
        let forced = KingfisherParsedOptionsInfo([.transition(.fade(1)), .forceTransition])
        let none = KingfisherParsedOptionsInfo([.forceTransition])
        let types: [CacheType] = [.none, .memory, .disk]
        #expect(types.map(plain.needsTransition) == [true, false, false])
        #expect(types.map(forced.needsTransition) == [true, true, true])
        #expect(types.map(none.needsTransition) == [false, false, false])
    }

    @Test func transitionsHaveTheirDurationAndLook() {
        let all: [(ImageTransition, Double, ImageTransition.AnimationOptions)] = [
            (.none, 0, []), (.fade(1), 1, .transitionCrossDissolve),
            (.flipFromLeft(2), 2, .transitionFlipFromLeft),
            (.flipFromRight(3), 3, .transitionFlipFromRight),
            (.flipFromTop(4), 4, .transitionFlipFromTop),
            (.flipFromBottom(5), 5, .transitionFlipFromBottom),
            (
                .custom(duration: 6, options: .curveLinear, animations: nil, completion: nil), 6,
                .curveLinear
            ),
        ]
        for (transition, duration, options) in all {
            #expect(transition.duration == duration && transition.animationOptions == options)
        }
    }

    @Test func aFadeRemovesThePlaceholderShowsTheImageAndCompletesAtItsEnd() async throws {
        let label = HeadlessLabel()
        view.kf.setImage(
            with: fixture.url(width: 3), placeholder: label,
            options: fixture.using([.transition(.fade(1.5))]), completionHandler: results.add())
        await clock.waitForSleepers()
        #expect(results.count == 0)
        clock.advance(by: .seconds(1.5))
        let result = await results.wait(for: 1)[0]
        #expect(
            view.record.events == [
                .overlayAdded(ObjectIdentifier(label)), .overlayRemoved(ObjectIdentifier(label)),
                .shows(nil), .transitionBegan(seconds: 1.5, .transitionCrossDissolve),
                .shows(result.value?.image), .transitionEnded,
            ])
        #expect(view.record.entries.last?.time == .seconds(1.5))
    }

    @Test func aCachedImageIsShownAtOnceUnlessTheTransitionIsForced() async throws {
        _ = await fixture.show(fixture.url(width: 3), in: HeadlessImageView())
        _ = await fixture.show(fixture.url(width: 3), in: view, [.transition(.flipFromTop(1))])
        #expect(clock.sleeperCount == 0)
        async let forced = fixture.show(
            fixture.url(width: 3), in: view, [.transition(.flipFromTop(1)), .forceTransition])
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await forced.value?.cacheType == .memory)
        #expect(view.record.events.contains(.transitionBegan(seconds: 1, .transitionFlipFromTop)))
    }

    @Test func aCustomTransitionSetsTheImageItselfAndIsToldOfItsEnd() async throws {
        let ends = Recorder<Bool>()
        let other = PresentationFixture.image(width: 50)
        let transition = ImageTransition.custom(
            duration: 2, options: [.curveEaseIn], animations: { view, _ in view.image = other },
            completion: { ends.record($0) })
        async let result = fixture.show(fixture.url(width: 3), in: view, [.transition(transition)])
        await clock.waitForSleepers()
        #expect(view.image === other && ends.count == 0)
        clock.advance(by: .seconds(2))
        #expect(await result.width == 3 && ends.events == [true])
    }

    @Test func aViewGivenAnotherImageBeforeTheChangeNeverShowsTheEarlierOne() async throws {
        let view = SlowView()
        view.kf.setImage(
            with: fixture.url(width: 3), options: fixture.using([.transition(.fade(1))]),
            completionHandler: results.add(0))
        await view.asked.wait(until: { $0 == 1 })
        view.kf.setImage(
            with: fixture.url(width: 4), options: fixture.options, completionHandler: results.add(1)
        )
        #expect(await results.wait(for: 1)[0].width == 4)
        view.runChanges()
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true && view.shown.compactMap { $0 } == [4])
    }
}

/// A view that prepares its transitions until it is told to run them.
@MainActor private final class SlowView: KFCrossPlatformImageView {
    let imageViewState = ImageViewState()
    var isHidden = false
    let asked = Observed(0)
    private(set) var shown: [Int?] = []
    private var pending: [() -> Void] = []

    var image: KFCrossPlatformImage? { didSet { shown.append(image?.pixelSize.width) } }

    func addOverlay(_ view: any KFCrossPlatformView, placement: OverlayPlacement) {}
    func removeOverlay(_ view: any KFCrossPlatformView) {}
    func makeActivityView() -> any ActivityView { HeadlessActivityView() }
    func makeImageView() -> any KFCrossPlatformImageView { SlowView() }

    func animate(
        _ transition: ImageTransition, changes: @escaping @MainActor () -> Void,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        pending.append {
            changes()
            completion(true)
        }
        asked.update { $0 += 1 }
    }

    func runChanges() {
        for change in pending { change() }
        pending = []
    }
}
