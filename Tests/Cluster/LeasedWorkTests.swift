import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore
import Testing

/// Values that one of several nodes makes.
@Suite struct LeasedWorkTests {
    private let clock: ManualClock
    private let store: MemoryLeaseStore

    init() {
        clock = ManualClock()
        store = MemoryLeaseStore(clock.time)
    }

    private func node(lease: Duration = .seconds(2)) -> TextNode {
        TextNode(store, lease: lease, time: clock.time)
    }

    @Test func whatCannotBePublishedIsMadeByTheNextWithoutWaitingForTheLease() async throws {
        let (one, two) = (node(), node())
        let first = await one.begin("one", isPublishable: false)
        let second = Task { await two.text { "two" } }
        await two.waitFor(.waited)
        #expect(await first.finish() == "one")
        #expect(await second.value == "two")
    }

    @Test func aHolderThatHasGoneIsSucceededAfterItsLease() async throws {
        // Takes the lease and is not heard of again.
        let acquired = try await store.acquire(
            "a", token: "gone", for: .milliseconds(300), after: 0, marks: []
        ).value
        guard case .acquired = acquired else { throw EngineError("\(acquired)") }
        let two = node()
        let text = Task { await two.text { "two" } }
        // It asks now and then, and a little after the end.
        for _ in 0..<2 {
            await clock.waitForSleepers()
            clock.advanceToNextDeadline()
        }
        #expect(await text.value == "two")
        #expect(clock.now.offset > .milliseconds(300))
        #expect(two.events.events.prefix(2) == [.waited, .acquired])
    }

    @Test func aLeaseIsRenewedAsLongAsTheWorkGoesOn() async throws {
        let one = node(lease: .milliseconds(90))
        let text = await one.begin("one")
        for renewal in 1...6 {
            for _ in 0..<2 {
                await clock.waitForSleepers()
                clock.advance(by: .milliseconds(10))
            }
            await store.renewals.waitFor(count: renewal)
        }
        let acquisition = try await store.acquire(
            "a", token: "stranger", for: .seconds(1), after: 0, marks: []
        ).value
        #expect(acquisition == .held(for: .milliseconds(90)))
        #expect(await text.finish() == "one")
    }

    @Test(arguments: [true, false])
    func whoseLeaseHasPassedPublishesAndLeavesNothing(beforePublishing: Bool) async throws {
        let (one, two) = (node(), node())
        let left = Recorder<String>()
        let gate = Gate()
        @Sendable func text(_ text: String, _ node: TextNode, _ gate: Gate?) async -> String? {
            await node.work.value(
                for: "a", until: OneShot<Bool>(),
                reading: { text, _ in String(buffer: text.content) },
                making: { _, _ in
                    try? await gate?.wait()
                    return .init(
                        text,
                        publication: .init(
                            lifetime: .seconds(60), leavesSomething: beforePublishing,
                            afterwards: { _ in if !beforePublishing { left.record(text) } }
                        ) { _ in
                            if beforePublishing { left.record(text) }
                            return ByteBuffer(string: text)
                        })
                })
        }
        let late = Task { await text("late", one, gate) }
        await gate.waitForWaiters()
        // As if its time were over.
        try await store.forget(["a"], marking: [], telling: ByteBuffer())
        #expect(await text("two", two, nil) == "two")
        await left.wait { !$0.isEmpty }
        await two.waitFor(.published)
        gate.open()
        #expect(await late.value == "late")
        await one.waitFor(.refused)
        #expect(left.events == ["two"])
        let record = try #require(try await store.record("a", marks: []).value)
        #expect(String(buffer: record.content) == "two")
    }

    @Test func withoutTheStoreEachMakesItsOwn() async {
        store.setReachable(false)
        let nodes = [node(), node()]
        for node in nodes {
            #expect(await node.text { "own" } == "own")
            #expect(node.events.events == [.unavailable])
        }
        store.setReachable(true)
        #expect(await nodes[0].text { "shared" } == "shared")
        await nodes[0].waitFor(.published)
        #expect(await nodes[1].text { "own" } == "shared")
    }

    @Test func whoIsNotWantedAnyLongerStopsWaiting() async throws {
        let (one, two) = (node(), node())
        let first = await one.begin("one")
        let stopped = OneShot<Bool>()
        let second = Task { await two.text(until: stopped) { "two" } }
        await two.waitFor(.waited)
        stopped.give(true)
        #expect(await second.value == nil)
        #expect(await first.finish() == "one")
    }

    /// Has what counts for one mark made again, with the names of no records.
    private func mark(_ name: String) async throws {
        try await store.forget([], marking: [name], telling: ByteBuffer())
    }

    @Test func aRecordThatIsOlderThanOneOfItsMarksIsMadeAgain() async throws {
        let (one, two, three) = (node(), node(), node())
        for name in ["a", "b"] {
            #expect(await one.text(name, marks: ["all", name]) { "old" } == "old")
        }
        await one.events.wait { $0.count(where: { $0 == .published }) == 2 }
        try await mark("a")
        #expect(await two.text("b", marks: ["all", "b"]) { "new" } == "old")
        #expect(await two.text("a", marks: ["all", "a"]) { "new" } == "new")
        await two.waitFor(.published)
        // What is newer than the mark is shared again.
        for node in [one, three] {
            #expect(await node.text("a", marks: ["all", "a"]) { "newer" } == "new")
        }
        try await mark("all")
        #expect(await three.text("b", marks: ["all", "b"]) { "new" } == "new")
    }

    @Test func whatWasBegunBeforeAMarkIsOfUseToNobodyAfterIt() async throws {
        let (one, two, three) = (node(), node(), node())
        let first = await one.begin("old", marks: ["m"])
        try await mark("m")
        #expect(await first.finish() == "old")
        await one.waitFor(.published)
        #expect(await two.text(marks: ["m"]) { "new" } == "new")
        await two.waitFor(.published)
        #expect(await three.text(marks: ["m"]) { "newer" } == "new")
    }

    @Test func whoWaitsWhenAMarkIsSetMakesTheValueItself() async throws {
        let (one, two) = (node(), node())
        let first = await one.begin("old", marks: ["m"])
        let second = Task { await two.text(marks: ["m"]) { "new" } }
        await two.waitFor(.waited)
        try await mark("m")
        #expect(await first.finish() == "old")
        #expect(await second.value == "new")
    }

    @Test func whoMakesAValueKnowsTheLatestMark() async throws {
        let node = node()
        let marks = Recorder<Int64?>()
        func make(_ name: String) async {
            _ = await node.work.value(
                for: name, marks: ["x", "y"], until: OneShot<Bool>(),
                reading: { _, _ in nil as String? },
                making: { mark, _ in
                    marks.record(mark)
                    return .init("", publication: nil)
                })
        }
        await make("a")
        try await mark("x")
        await make("b")
        try await mark("y")
        await make("c")
        store.setReachable(false)
        await make("d")
        let seen = marks.events
        #expect(seen.first == .some(.some(0)) && seen.last == .some(.none))
        let (second, third) = (try #require(seen[1]), try #require(seen[2]))
        #expect(second > 1_000_000 && third > second)
    }

    private func glance(_ node: TextNode) async -> (value: String?, empty: LeasedWork.EmptyGlance?)
    {
        await node.work.glance(at: "a", marks: ["m"]) { text, _ in String(buffer: text.content) }
    }

    @Test func aGlanceTellsWhatIsPublishedAndTakesNoLease() async throws {
        let (one, two) = (node(), node())
        let before = await glance(two)
        #expect(before.value == nil && before.empty != nil)
        #expect(await one.text { "one" } == "one")
        await one.waitFor(.published)
        let after = await glance(two)
        #expect(after.value == "one" && after.empty == nil)
        // What has been published since an empty glance is found all the same.
        #expect(await two.text(marks: ["m"], after: before.empty) { "two" } == "one")
    }

    @Test func afterAnEmptyGlanceTheLeaseIsTakenWithoutAnotherLook() async throws {
        let (one, two) = (node(), node())
        #expect(await one.text { "one" } == "one")
        await one.waitFor(.published)
        try await mark("m")
        let empty = await glance(two)
        #expect(empty.value == nil)
        let known = try #require(empty.empty)
        #expect(await two.text(marks: ["m"], after: known) { "two" } == "two")
        #expect(two.events.events.prefix(1) == [.acquired])
        await two.waitFor(.published)
        #expect(await glance(one).value == "two")
        store.setReachable(false)
        let unknown = await glance(two)
        #expect(unknown.value == nil && unknown.empty == nil)
    }

    @Test func whoTakesTheLeaseAtOnceFindsMakesAndWaitsAllTheSame() async throws {
        let (one, two, three) = (node(), node(), node())
        let first = await one.begin("one", marks: ["m"], takingLeaseAtOnce: true)
        let second = Task { await two.text(marks: ["m"], takingLeaseAtOnce: true) { "two" } }
        await two.waitFor(.waited)
        #expect(await first.finish() == "one")
        #expect(await second.value == "one")
        #expect(await three.text(marks: ["m"], takingLeaseAtOnce: true) { "three" } == "one")
        #expect(three.events.events == [.found])
        // What is older than a mark is made again, and published.
        try await mark("m")
        #expect(await three.text(marks: ["m"], takingLeaseAtOnce: true) { "new" } == "new")
        await three.waitFor(.published)
        #expect(await two.text(marks: ["m"], takingLeaseAtOnce: true) { "two" } == "new")
        store.setReachable(false)
        #expect(await two.text(marks: ["m"], takingLeaseAtOnce: true) { "alone" } == "alone")
    }
}
