import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageSettableTests {
    @Test func aHolderShowsThePlaceholderThenTheImage() async throws {
        let fixture = try await PresentationFixture()
        let holder = HeadlessImageHolder()
        let placeholder = PresentationFixture.image(width: 20)
        let result = await withCheckedContinuation { continuation in
            holder.kf.setImage(
                with: fixture.url(width: 3), placeholder: placeholder,
                options: fixture.using([.transition(.fade(9))])
            ) { continuation.resume(returning: $0) }
        }
        #expect(result.width == 3)
        #expect(holder.history.map { $0?.pixelSize.width } == [20, 3])
    }

    @Test func aHolderIsLeftAloneByEarlierLoads() async throws {
        let fixture = try await PresentationFixture()
        let holder = HeadlessImageHolder()
        let results = Results()
        for width in 1...8 {
            holder.kf.setImage(
                with: fixture.url(width: width),
                options: fixture.using([.keepCurrentImageWhileLoading]),
                completionHandler: results.add(width))
        }
        let all = await results.wait(for: 8)
        #expect(all.dropLast().allSatisfy { $0.error?.isNotCurrentTask == true })
        #expect(holder.history.compactMap { $0?.pixelSize.width } == [8])
        #expect(holder.kf.taskIdentifier == nil)
    }

    @Test func aHolderNeedsTheTwoRequirementsOnly() async throws {
        let fixture = try await PresentationFixture()
        let holder = Plain()
        let source = Source.network(fixture.url(width: 2))
        let result = await withCheckedContinuation { continuation in
            holder.kf.setImage(with: source, options: fixture.options) {
                continuation.resume(returning: $0)
            }
        }
        #expect(result.width == 2 && holder.getImage()?.pixelSize.width == 2)
    }

    @Test func cancellingFailsTheLoadAndShowsTheFailureImage() async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let holder = HeadlessImageHolder()
        let failed = PresentationFixture.image(width: 30)
        let results = Results()
        holder.kf.setImage(
            with: fixture.url(width: 1), options: fixture.using([.onFailureImage(failed)]),
            completionHandler: results.add())
        holder.kf.cancelDownloadTask()
        #expect(await results.wait(for: 1)[0].error?.isTaskCancelled == true)
        #expect(holder.image === failed)
    }

    @Test func nothingIsRememberedOfAHolderThatIsGone() async throws {
        let gate = Gate()
        let fixture = try await PresentationFixture(gate: gate)
        let results = Results()
        weak var loader: ImageSlotLoader?
        weak var remembered: HeadlessImageHolder?
        do {
            let holder = HeadlessImageHolder()
            remembered = holder
            holder.kf.setImage(
                with: fixture.url(width: 1), options: fixture.options,
                completionHandler: results.add(0))
            holder.kf.setImage(
                with: fixture.url(width: 2), options: fixture.options,
                completionHandler: results.add(1))
            loader = SlotTable.shared.runningLoader(of: holder, .image)
        }
        #expect(remembered == nil && loader != nil)
        gate.open()
        #expect(await results.wait(for: 2)[1].width == 2)
        // The thread that sent the result to the main queue may hold it a moment longer.
        while loader != nil { await pause() }
    }
}

/// Waits until what was on the main queue has run and been released.
func mainQueueTurn() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
    }
}

/// A class that is not bound to the main actor.
private final class Plain: KingfisherImageSettable {
    @MainActor private var held: KFCrossPlatformImage?

    func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        held = image
    }

    func getImage() -> KFCrossPlatformImage? { held }
}
