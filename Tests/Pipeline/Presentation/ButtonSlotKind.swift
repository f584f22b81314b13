import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What every slot of every kind of button has to do.
@MainActor struct ButtonSlotKind<Button: AnyObject> {
    let set:
        (Button, URL?, KingfisherOptionsInfo, DownloadProgressBlock?, ImageSettingCompletion?) ->
            DownloadTask?
    let shown: (Button) -> Image?
    let cancel: (Button) -> Void
    let identifier: (Button) -> Source.Identifier.Value?

    func checkDownload(into button: Button) async throws {
        let fixture = try await PresentationFixture()
        let results = Results()
        let progress = Recorder<Int64>()
        _ = set(
            button, fixture.url(width: 3), fixture.options,
            { received, _ in
                #expect(results.count == 0 && MainQueue.isCurrent)
                progress.record(received)
            }, results.add())
        #expect(identifier(button) != nil)
        let result = await results.wait(for: 1)[0]
        #expect(progress.events.last == Int64(PresentationFixture.png(width: 3).count))
        #expect(result.value?.cacheType == CacheType.none)
        #expect(result.width == 3 && shown(button) === result.value?.image)
        #expect(identifier(button) == nil)
    }

    func checkCancelling(_ button: Button) async throws {
        let fixture = try await PresentationFixture(gate: Gate())
        let results = Results()
        _ = set(button, fixture.url(width: 3), fixture.options, nil, results.add())
        await fixture.origin.waitForRequests(1)
        cancel(button)
        #expect(await results.wait(for: 1)[0].error?.isTaskCancelled == true)
        #expect(shown(button) == nil)
    }

    func checkNoSource(_ button: Button) async {
        let results = Results()
        #expect(set(button, nil, [], nil, results.add()) == nil)
        #expect(await results.wait(for: 1)[0].error?.errorCode == 5001)
        #expect(identifier(button) == nil)
    }

    func checkFailureImage(_ button: Button) async throws {
        let fixture = try await PresentationFixture()
        let failed = PresentationFixture.image(width: 30)
        let results = Results()
        _ = set(
            button, fixture.missing, fixture.using([.onFailureImage(failed)]), nil, results.add())
        #expect(shown(button) == nil)
        #expect(await results.wait(for: 1)[0].error?.isInvalidResponseStatusCode(404) == true)
        #expect(shown(button) === failed)
    }

    func checkSuperseding(_ button: Button) async throws {
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 1)
        try await fixture.cacheOnDisk(width: 2)
        let results = Results()
        let held = HeldSerializer()
        _ = set(
            button, fixture.url(width: 1), fixture.using([.cacheSerializer(held)]), nil,
            results.add(0))
        try await held.waitUntilReading()
        _ = set(button, fixture.url(width: 2), fixture.options, nil, results.add(1))
        held.letGoOn()
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].width == 2)
        #expect(fixture.cachedType(width: 1) == .disk)
    }

    func checkCancellingDiskRead(_ button: Button) async throws {
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 1)
        let results = Results()
        let held = HeldSerializer()
        _ = set(
            button, fixture.url(width: 1), fixture.using([.cacheSerializer(held)]), nil,
            results.add())
        try await held.waitUntilReading()
        cancel(button)
        held.letGoOn()
        #expect(await results.wait(for: 1)[0].error?.errorCode == 3006)
        #expect(fixture.cachedType(width: 1) == .disk)
    }
}
