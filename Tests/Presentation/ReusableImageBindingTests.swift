import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@MainActor @Suite struct ReusableImageBindingTests {
    private let row = Row()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    @Test func loadingSuccessAndFailureAreShown() async throws {
        row.binding.bind(to: fixture.url(width: 3), options: fixture.options)
        await row.states.waitFor(count: 2)
        row.binding.bind(to: fixture.missing, options: fixture.options)
        await row.states.waitFor(count: 4)
        row.binding.unbind()
        row.binding.unbind()
        #expect(
            row.states.events == [
                "loading 3.png", "success 3", "loading missing.png", "failure 2002", "empty",
            ])
    }

    @Test func bindingTheSameImageAgainChangesNothing() async throws {
        for _ in 0..<3 { row.binding.bind(to: fixture.url(width: 3), options: fixture.options) }
        await row.states.waitFor(count: 2)
        row.binding.bind(to: fixture.url(width: 3), options: fixture.options)
        #expect(row.states.events == ["loading 3.png", "success 3"])
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func aFailedLoadIsTriedAgainWhenAsked() async throws {
        fixture.origin.route(
            "/flaky.png", sequence: [.status(503), .png(PresentationFixture.png(width: 6))])
        row.binding.retry()
        row.binding.bind(to: fixture.origin.url("/flaky.png"), options: fixture.options)
        await row.states.waitFor(count: 2)
        row.binding.retry()
        await row.states.waitFor(count: 4)
        row.binding.retry()
        #expect(
            row.states.events == [
                "loading flaky.png", "failure 2002", "loading flaky.png", "success 6",
            ])
    }

    @Test func aReleasedBindingCancelsItsLoad() async throws {
        fixture.hold()
        var row: Row? = Row()
        weak let remembered = row
        row?.binding.bind(to: fixture.url(width: 1), options: fixture.options)
        await fixture.origin.waitForRequests(1)
        row = nil
        #expect(remembered == nil)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    @Test(.timeLimit(.minutes(20)))
    func tenThousandBindingsEndWithTheLastImageInEachRowAndNothingLeft() async throws {
        let gate = fixture.hold()
        var random = SeededGenerator(state: 7)
        var rows: [Row] = (0..<20).map { _ in Row() }
        for turn in 0..<10_000 {
            let row = rows[turn % rows.count]
            let width = Int.random(in: 0...8, using: &random)
            if width == 0 {
                row.binding.unbind()
            } else {
                row.binding.bind(
                    to: fixture.url(width: width), options: fixture.using([.cancelWhenSuperseded]))
            }
            row.wanted = width
            // Lets requests, cancellations and completions overlap with what follows.
            if turn % 100 == 0 { await Task.yield() }
            if turn == 9_000 { gate.open() }
        }
        for row in rows {
            let last = row.wanted == 0 ? "empty" : "success \(row.wanted)"
            #expect(await row.states.wait { $0.last == last }.last == last)
        }
        #expect(rows.allSatisfy { $0.staleEvents == 0 })
        // Nobody waits for anything any more.
        #expect(fixture.downloader.downloads.tickets.isEmpty)
        weak let first = rows.first
        rows = []
        await mainQueueTurn()
        #expect(first == nil)
    }

    @Test(.timeLimit(.minutes(20)))
    func tenThousandImagesSetInHoldersLeaveTheLastInEachAndNoTask() async throws {
        let gate = Gate()
        let png = PresentationFixture.png(width: 2)
        let downloader = ImageDownloader(
            name: "slow", transport: ScriptedTransport(body: png, after: gate))
        var random = SeededGenerator(state: 11)
        var holders: [HeadlessImageHolder] = (0..<50).map { _ in HeadlessImageHolder() }
        var begun = 0
        let released = Observed(0)
        let ends = Recorder<Int?>()
        var last: [Int] = Array(repeating: 0, count: holders.count)
        let images = (0..<16).map { PresentationFixture.image(width: $0 + 10) }
        @discardableResult func set(_ slot: Int, _ wanted: Int) -> DownloadTask? {
            holders[slot].kf.setImage(
                with: URL(string: "http://example.com/\(wanted)")!,
                options: [
                    .targetCache(fixture.cache), .downloader(downloader), .cacheMemoryOnly,
                    .imageModifier(AnyImageModifier { _ in images[wanted] }),
                ]
            ) { result in ends.record(result.error?.errorCode) }
        }
        for turn in 0..<10_000 {
            let slot = Int.random(in: 0..<holders.count, using: &random)
            let wanted = Int.random(in: 0..<16, using: &random)
            last[slot] = wanted
            if let task = set(slot, wanted) {
                begun += 1
                // Kept until the task goes or is cancelled.
                let witness = ReleaseWitness { released.update { $0 += 1 } }
                task.onCancel { witness.stay() }
            }
            if turn % 100 == 0 { await Task.yield() }
            if turn % 7 == 0 { holders[slot].kf.cancelDownloadTask() }
            if turn == 9_500 { gate.open() }
        }
        // What was cancelled last is asked for once more.
        for slot in holders.indices { set(slot, last[slot]) }
        let all = await ends.waitFor(count: 10_000 + holders.count)
        #expect(all.count == 10_000 + holders.count)
        // 1005 is a cancellation that came before the request had a download.
        #expect(Set(all).isSubset(of: [nil, 5002, 1003, 1005]))
        for (slot, holder) in holders.enumerated() {
            #expect(holder.image === images[last[slot]] && holder.kf.taskIdentifier == nil)
        }
        #expect(downloader.downloads.tickets.isEmpty)
        weak let first = holders.first
        holders = []
        await mainQueueTurn()
        #expect(first == nil)
        // The last requests are let go of just after they have completed.
        await released.wait { [begun] in $0 == begun }
    }
}

/// A row of a list, which notes what it shows.
@MainActor private final class Row {
    let states = Recorder<String>()
    private(set) var staleEvents = 0
    /// The width of the image it is bound to; 0 for none.
    var wanted = 0
    private(set) lazy var binding = ReusableImageBinding { [weak self] in self?.show($0) }

    private func show(_ state: ReusableImageState) {
        switch state {
        case .empty: states.record("empty")
        case .loading(let source):
            states.record("loading \(source.url?.lastPathComponent ?? "")")
        case .success(let image):
            let width = image.pixelSize.width
            if states.events.last != "loading \(width).png" { staleEvents += 1 }
            states.record("success \(width)")
        case .failure(let error, _): states.record("failure \(error.errorCode)")
        }
    }
}
