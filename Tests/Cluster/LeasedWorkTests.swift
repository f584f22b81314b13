import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore
import Testing

/// Values that one of several nodes makes, with a real Redis between them.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct LeasedWorkTests {
    /// One node, which makes texts.
    private final class TextNode: Sendable {
        let store: RedisLeaseStore
        let work: LeasedWork
        let events = Recorder<LeasedWork.Event>()
        let messages = Recorder<String>()

        init(
            _ server: RedisServer, lease: Duration = .seconds(600),
            timeout: Duration = .seconds(600)
        ) {
            var settings = RedisSettings(address: .unix(path: server.path))
            // For a busy machine; tests of limits set their own.
            settings.timeout = timeout
            settings.pause = .milliseconds(20)
            settings.longestPause = .milliseconds(100)
            let messages = messages
            store = RedisLeaseStore(
                settings, prefix: "test", onMessage: { messages.record(String(buffer: $1.content)) }
            )
            let events = events
            work = LeasedWork(store, duration: lease) { events.record($0) }
        }

        func text(
            _ name: String = "a", marks: [String] = [], until stopped: OneShot<Bool> = OneShot(),
            isPublishable: Bool = true, _ make: @escaping @Sendable () async -> String
        ) async -> String? {
            await work.value(
                for: name, marks: marks, until: stopped,
                reading: { text, _ in String(buffer: text.content) },
                making: { _, _ in
                    let text = await make()
                    return .init(
                        text,
                        publication: isPublishable
                            ? .init(lifetime: .seconds(60)) { _ in ByteBuffer(string: text) } : nil)
                })
        }

        func waitFor(_ event: LeasedWork.Event) async {
            await events.wait { $0.contains(event) }
        }
    }

    @Test func oneNodeOfFourMakesWhatAllWant() async throws {
        let server = try await RedisServer.start()
        let nodes = (0..<4).map { _ in TextNode(server) }
        let made = Locked(0)
        let gate = Gate()
        let texts = Task {
            await withTaskGroup(of: String?.self) { group in
                for node in nodes {
                    for _ in 0..<25 {
                        group.addTask {
                            await node.text {
                                made.withLock { $0 += 1 }
                                try? await gate.wait()
                                return "made"
                            }
                        }
                    }
                }
                return await group.reduce(into: [String?]()) { $0.append($1) }
            }
        }
        await gate.waitForWaiters()
        for node in nodes { await node.waitFor(.waited) }
        gate.open()
        #expect(await texts.value == Array(repeating: "made", count: 100))
        #expect(made.value == 1)
        #expect(await nodes[0].text { "another" } == "made")
    }

    @Test func whatCannotBePublishedIsMadeByTheNextWithoutWaitingForTheLease() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        let gate = Gate()
        let first = Task {
            await one.text(isPublishable: false) {
                try? await gate.wait()
                return "one"
            }
        }
        await gate.waitForWaiters()
        let second = Task { await two.text { "two" } }
        await two.waitFor(.waited)
        gate.open()
        #expect(await first.value == "one")
        #expect(await second.value == "two")
    }

    @Test func aHolderThatHasGoneIsSucceededAfterItsLease() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server, lease: .milliseconds(300)), TextNode(server))
        // Takes the lease and is not heard of again.
        let acquired = try await one.store.acquire(
            "a", token: "gone", for: .milliseconds(300), after: 0
        ).value
        guard case .acquired = acquired else {
            Issue.record("\(acquired)")
            return
        }
        #expect(await two.text { "two" } == "two")
        // A machine that is busy may get there after the lease.
        #expect(two.events.events.filter { $0 != .waited }.first == .acquired)
        await two.waitFor(.published)
    }

    @Test func aLeaseIsRenewedAsLongAsTheWorkGoesOn() async throws {
        let server = try await RedisServer.start()
        let node = TextNode(server)
        let store = LongLeases(store: node.store)
        let work = LeasedWork(store, duration: .milliseconds(90))
        let gate = Gate()
        let text = Task {
            await work.value(
                for: "a", until: OneShot<Bool>(),
                reading: { text, _ in String(buffer: text.content) },
                making: { _, _ in
                    try? await gate.wait()
                    return .init("one", publication: nil)
                })
        }
        #expect(await store.renewals.waitFor(count: 3).prefix(3) == [true, true, true])
        let acquisition = try await TextNode(server).store.acquire(
            "a", token: "stranger", for: .seconds(1), after: 0
        ).value
        if case .held(let left) = acquisition {
            #expect(left > LongLeases.atFirst)
        } else {
            Issue.record("\(acquisition)")
        }
        gate.open()
        #expect(await text.value == "one")
    }

    @Test func theResultOfALeaseThatHasPassedIsNotPublished() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        let gate = Gate()
        let late = Task {
            await one.text {
                try? await gate.wait()
                return "late"
            }
        }
        await gate.waitForWaiters()
        // As if its time were over.
        try await two.store.forget(["a"], telling: ByteBuffer(string: "a"))
        #expect(await two.text { "two" } == "two")
        await two.waitFor(.published)
        gate.open()
        #expect(await late.value == "late")
        await one.waitFor(.refused)
        let record = try #require(try await two.store.record("a").value)
        #expect(String(buffer: record.content) == "two")
    }

    @Test(arguments: [true, false])
    func whoseLeaseHasPassedLeavesNothingElsewhere(beforePublishing: Bool) async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
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
        try await two.store.forget(["a"], telling: ByteBuffer(string: "a"))
        #expect(await text("two", two, nil) == "two")
        await left.wait { !$0.isEmpty }
        await two.waitFor(.published)
        gate.open()
        #expect(await late.value == "late")
        await one.waitFor(.refused)
        #expect(left.events == ["two"])
    }

    @Test func generationsGrowAlsoWhenTheServerHasForgottenThem() async throws {
        let server = try await RedisServer.start()
        let node = TextNode(server)
        var last: Int64 = 0
        for round in 0..<3 {
            guard
                case .acquired(let generation) = try await node.store.acquire(
                    "a", token: "\(round)", for: .seconds(600), after: 0
                ).value
            else {
                Issue.record("the lease is held")
                return
            }
            #expect(generation > last)
            last = generation
            let record = SharedRecord(generation: generation, content: ByteBuffer(string: "x"))
            #expect(
                try await node.store.publish(
                    record, as: "a", token: "\(round)", lifetime: .seconds(60)))
            #expect(try await node.store.record("a").value == record)
            try await node.store.forget(["a"], telling: ByteBuffer())
            #expect(try await node.store.record("a").value == nil)
        }
        guard
            case .acquired(let next) = try await node.store.acquire(
                "a", token: "t", for: .seconds(600), after: last + 1_000_000_000
            ).value
        else {
            Issue.record("the lease is held")
            return
        }
        #expect(next > last + 1_000_000_000)
    }

    @Test func aRecordSaysSomethingElseOnlyAsLongAsItIsThatOne() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        func amend(_ text: String, _ generation: Int64) async throws -> Bool {
            try await two.store.amend(
                SharedRecord(generation: generation, content: ByteBuffer(string: text)), of: "a",
                lifetime: .seconds(60))
        }
        _ = await one.text { "one" }
        await one.waitFor(.published)
        let first = try #require(try await one.store.record("a").value)
        #expect(try await amend("confirmed", first.generation))
        let amended = try #require(try await one.store.record("a").value)
        #expect(String(buffer: amended.content) == "confirmed")
        #expect(amended.generation == first.generation)
        try await mark("m", one)
        // It is no newer than it was: a mark still counts for it.
        #expect(try await amend("late", first.generation))
        #expect(await two.text(marks: ["m"]) { "two" } == "two")
        await two.waitFor(.published)
        #expect(try await !amend("too late", first.generation))
        let second = try #require(try await one.store.record("a").value)
        #expect(String(buffer: second.content) == "two")
        try await one.store.forget(["a"], telling: ByteBuffer())
        #expect(try await !amend("gone", second.generation))
        #expect(try await one.store.record("a").value == nil)
    }

    @Test func aNodeThatHasSeenANewerRecordGetsIt() async throws {
        let server = try await RedisServer.start()
        let node = TextNode(server)
        _ = await node.text { "one" }
        await node.waitFor(.published)
        let acquisition = try await node.store.acquire(
            "a", token: "t", for: .seconds(600), after: 0
        ).value
        guard case .published(let record) = acquisition else {
            Issue.record("\(acquisition)")
            return
        }
        #expect(String(buffer: record.content) == "one")
        #expect(record.generation > 1_000_000)
    }

    @Test func withoutTheServerEachMakesItsOwn() async throws {
        let server = try await RedisServer.start()
        let nodes = [TextNode(server), TextNode(server)]
        await server.kill()
        for node in nodes {
            for number in 0..<10 {
                #expect(await node.text { "\(number)" } == "\(number)")
            }
            #expect(node.events.events == Array(repeating: .unavailable, count: 10))
        }
        try await server.start()
        while !nodes[0].events.events.contains(.published) {
            _ = await nodes[0].text { "shared" }
        }
        var text: String?
        while text != "shared" { text = await nodes[1].text { "own" } }
    }

    @Test func aServerThatFallsSilentMeanwhileKeepsNobodyWaiting() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server, timeout: .seconds(3)))
        _ = await two.text("warm") { "warm" }
        let gate = Gate()
        let first = Task {
            await one.text {
                try? await gate.wait()
                return "one"
            }
        }
        await gate.waitForWaiters()
        let second = Task { await two.text { "two" } }
        await two.waitFor(.waited)
        server.freeze()
        #expect(await second.value == "two")
        server.thaw()
        gate.open()
        #expect(await first.value == "one")
    }

    @Test func whoIsNotWantedAnyLongerStopsWaiting() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        let gate = Gate()
        let first = Task {
            await one.text {
                try? await gate.wait()
                return "one"
            }
        }
        await gate.waitForWaiters()
        let stopped = OneShot<Bool>()
        let second = Task { await two.text(until: stopped) { "two" } }
        await two.waitFor(.waited)
        stopped.give(true)
        #expect(await second.value == nil)
        gate.open()
        #expect(await first.value == "one")
    }

    /// Has what counts for one mark made again, with the names of no records.
    private func mark(_ name: String, _ node: TextNode) async throws {
        try await node.store.forget([], marking: [name], telling: ByteBuffer())
    }

    @Test func aRecordThatIsOlderThanOneOfItsMarksIsMadeAgain() async throws {
        let server = try await RedisServer.start()
        let (one, two, three) = (TextNode(server), TextNode(server), TextNode(server))
        for name in ["a", "b"] {
            #expect(await one.text(name, marks: ["all", name]) { "old" } == "old")
        }
        while one.events.events.count(where: { $0 == .published }) < 2 { await pause() }
        try await mark("a", two)
        #expect(await two.text("b", marks: ["all", "b"]) { "new" } == "old")
        #expect(await two.text("a", marks: ["all", "a"]) { "new" } == "new")
        await two.waitFor(.published)
        // What is newer than the mark is shared again.
        for node in [one, three] {
            #expect(await node.text("a", marks: ["all", "a"]) { "newer" } == "new")
        }
        try await mark("all", one)
        #expect(await three.text("b", marks: ["all", "b"]) { "new" } == "new")
    }

    @Test func whatWasBegunBeforeAMarkIsOfUseToNobodyAfterIt() async throws {
        let server = try await RedisServer.start()
        let (one, two, three) = (TextNode(server), TextNode(server), TextNode(server))
        let gate = Gate()
        let first = Task {
            await one.text(marks: ["m"]) {
                try? await gate.wait()
                return "old"
            }
        }
        await gate.waitForWaiters()
        try await mark("m", two)
        gate.open()
        #expect(await first.value == "old")
        await one.waitFor(.published)
        #expect(await two.text(marks: ["m"]) { "new" } == "new")
        await two.waitFor(.published)
        #expect(await three.text(marks: ["m"]) { "newer" } == "new")
    }

    @Test func whoWaitsWhenAMarkIsSetMakesTheValueItself() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        let gate = Gate()
        let first = Task {
            await one.text(marks: ["m"]) {
                try? await gate.wait()
                return "old"
            }
        }
        await gate.waitForWaiters()
        let second = Task { await two.text(marks: ["m"]) { "new" } }
        await two.waitFor(.waited)
        try await mark("m", one)
        gate.open()
        #expect(await first.value == "old")
        #expect(await second.value == "new")
    }

    @Test func whoMakesAValueKnowsTheLatestMark() async throws {
        let server = try await RedisServer.start()
        let node = TextNode(server)
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
        try await mark("x", node)
        await make("b")
        try await mark("y", node)
        await make("c")
        await server.kill()
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

    private func text(
        _ node: TextNode, after glance: LeasedWork.EmptyGlance?, _ make: String
    ) async -> String? {
        await node.work.value(
            for: "a", marks: ["m"], after: glance, until: OneShot<Bool>(),
            reading: { text, _ in String(buffer: text.content) },
            making: { _, _ in
                .init(
                    make,
                    publication: .init(lifetime: .seconds(60)) { _ in ByteBuffer(string: make) })
            })
    }

    @Test func aGlanceTellsWhatIsPublishedAndTakesNoLease() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        let before = await glance(two)
        #expect(before.value == nil)
        #expect(before.empty != nil)
        #expect(await one.text { "one" } == "one")
        await one.waitFor(.published)
        let after = await glance(two)
        #expect(after.value == "one")
        #expect(after.empty == nil)
        // What has been published since an empty glance is found all the same.
        #expect(await text(two, after: before.empty, "two") == "one")
    }

    @Test func afterAnEmptyGlanceTheLeaseIsTakenWithoutAnotherLook() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        #expect(await one.text { "one" } == "one")
        await one.waitFor(.published)
        try await mark("m", one)
        let empty = await glance(two)
        #expect(empty.value == nil)
        let known = try #require(empty.empty)
        #expect(await text(two, after: known, "two") == "two")
        #expect(two.events.events.prefix(1) == [.acquired])
        await two.waitFor(.published)
        #expect(await glance(one).value == "two")
        await server.kill()
        let unknown = await glance(two)
        #expect(unknown.value == nil && unknown.empty == nil)
    }

    @Test func whoTakesTheLeaseAtOnceFindsMakesAndWaitsAllTheSame() async throws {
        let server = try await RedisServer.start()
        let (one, two, three) = (TextNode(server), TextNode(server), TextNode(server))
        @Sendable func text(
            _ node: TextNode, _ make: @escaping @Sendable () async -> String
        ) async -> String? {
            await node.work.value(
                for: "a", marks: ["m"], takingLeaseAtOnce: true, until: OneShot<Bool>(),
                reading: { text, _ in String(buffer: text.content) },
                making: { _, _ in
                    let made = await make()
                    return .init(
                        made,
                        publication: .init(lifetime: .seconds(60)) { _ in ByteBuffer(string: made) }
                    )
                })
        }
        let gate = Gate()
        let first = Task {
            await text(one) {
                try? await gate.wait()
                return "one"
            }
        }
        await gate.waitForWaiters()
        let second = Task { await text(two) { "two" } }
        await two.waitFor(.waited)
        gate.open()
        #expect(await first.value == "one")
        #expect(await second.value == "one")
        #expect(await text(three) { "three" } == "one")
        #expect(three.events.events == [.found])
        // What is older than a mark is made again, and published.
        try await mark("m", one)
        #expect(await text(three) { "new" } == "new")
        await three.waitFor(.published)
        #expect(await text(two) { "two" } == "new")
        await server.kill()
        #expect(await text(two) { "alone" } == "alone")
    }

    @Test func onlyThoseWhoWaitAreToldOfTheEndOfALease() async throws {
        let server = try await RedisServer.start()
        let (one, two) = (TextNode(server), TextNode(server))
        while !two.store.hearsNews { await pause() }
        var news: [News] = []
        for (name, isWaitedFor) in [("a", false), ("b", true), ("c", true)] {
            news.append(two.store.news(of: name))
            guard
                case .acquired(let generation) = try await one.store.acquire(
                    name, token: "t", for: .seconds(600), after: 0
                ).value
            else {
                Issue.record("the lease is held")
                return
            }
            if isWaitedFor {
                _ = try await two.store.acquire(
                    name, token: "u", for: .seconds(600), after: 0)
            }
            if name == "b" {
                try await one.store.release(name, token: "t")
            } else {
                let record = SharedRecord(generation: generation, content: ByteBuffer())
                #expect(
                    try await one.store.publish(
                        record, as: name, token: "t", lifetime: .seconds(60)))
            }
        }
        await news[1].arrival.value
        await news[2].arrival.value
        // Word of it would have come before.
        #expect(!news[0].arrival.isGiven)
        for each in news { each.end() }
    }

    @Test func aNodeLearnsWhatWasForgottenBeforeItWasThere() async throws {
        let server = try await RedisServer.start()
        let one = TextNode(server)
        for number in 0..<1200 {
            try await one.store.forget(["a"], telling: ByteBuffer(string: "\(number)"))
        }
        let expected = (0..<1200).map { "\($0)" }
        #expect(await one.messages.waitFor(count: 1200) == expected)
        let two = TextNode(server)
        #expect(await two.messages.waitFor(count: 1200) == expected)
    }

    @Test func whatIsForgottenIsToldToAll() async throws {
        let server = try await RedisServer.start()
        let nodes = [TextNode(server), TextNode(server)]
        for node in nodes { while !node.store.hearsNews { await pause() } }
        try await nodes[0].store.forget(["a", "b"], telling: ByteBuffer(string: "message"))
        for node in nodes { #expect(await node.messages.waitFor(count: 1) == ["message"]) }
    }
}
