import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore
import Testing

/// The contract of stores of leases: of Redis, and of the one in memory that stands for it in other tests.
@Suite struct LeaseStoreTests {
    enum Engine: Sendable, CaseIterable {
        case memory
        case redis

        static let installed = RedisServer.isInstalled ? allCases : [.memory]
    }

    private struct Fixture {
        let store: any LeaseStore
        let messages: Recorder<String>
        /// Lives as long.
        var server: RedisServer?

        init(_ engine: Engine) async throws {
            switch engine {
            case .memory:
                let memory = MemoryLeaseStore(ManualClock().time)
                (store, messages) = (memory, memory.messages)
            case .redis:
                let (server, messages) = (try await RedisServer.start(), Recorder<String>())
                store = RedisLeaseStore(
                    .patient(server), prefix: "test",
                    onMessage: { messages.record(String(buffer: $1.content)) })
                (self.server, self.messages) = (server, messages)
            }
        }

        func acquire(
            _ name: String = "a", _ token: String = "t", after generation: Int64 = 0
        ) async throws -> Acquisition {
            try await store.acquire(
                name, token: token, for: .seconds(600), after: generation, marks: []
            ).value
        }

        /// The generation of a lease that nobody else has.
        func generation(
            _ name: String = "a", _ token: String = "t", after generation: Int64 = 0
        ) async throws -> Int64 {
            let acquisition = try await acquire(name, token, after: generation)
            guard case .acquired(let generation) = acquisition else {
                throw EngineError("\(acquisition)")
            }
            return generation
        }

        /// How long somebody else has it still.
        func rest(_ token: String) async throws -> Duration {
            let acquisition = try await acquire("a", token)
            guard case .held(let rest) = acquisition else { throw EngineError("\(acquisition)") }
            return rest
        }

        func publish(
            _ record: SharedRecord, _ name: String = "a", _ token: String = "t"
        ) async throws -> Bool {
            try await store.publish(record, as: name, token: token, lifetime: .seconds(60))
        }

        func published(_ text: String, after generation: Int64 = 0) async throws -> SharedRecord {
            let record = SharedRecord(
                generation: try await self.generation(after: generation),
                content: ByteBuffer(string: text))
            #expect(try await publish(record))
            return record
        }

        func record(_ name: String = "a") async throws -> SharedRecord? {
            try await store.record(name, marks: []).value
        }

        func mark(of marks: String...) async throws -> Int64 {
            try await store.record("a", marks: marks).mark
        }

        func forget(_ names: [String], marking marks: [String] = []) async throws {
            try await store.forget(names, marking: marks, telling: ByteBuffer(string: "forget"))
        }
    }

    @Test(arguments: Engine.installed)
    func aLeaseIsHeldByOneTokenUntilThatGivesItBack(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        let store = fixture.store
        _ = try await fixture.generation("a", "one")
        // No second lease.
        _ = try await fixture.generation("a", "one")
        let rest = try await fixture.rest("two")
        #expect(rest > .zero && rest <= .seconds(600))
        #expect(try await store.renew("a", token: "one", for: .seconds(1200)))
        #expect(try await !store.renew("a", token: "two", for: .seconds(1200)))
        #expect(try await fixture.rest("two") > .seconds(600))
        try await store.release("a", token: "two")
        #expect(try await store.renew("a", token: "one", for: .seconds(600)))
        try await store.release("a", token: "one")
        _ = try await fixture.generation("a", "two")
        #expect(try await !store.renew("a", token: "one", for: .seconds(600)))
    }

    @Test(arguments: Engine.installed)
    func aRecordIsPublishedByTheHolderOfTheLeaseWhichEndsWithIt(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        let record = SharedRecord(
            generation: try await fixture.generation(), content: ByteBuffer(string: "one"))
        #expect(try await !fixture.publish(record, "a", "stranger"))
        #expect(try await fixture.record() == nil)
        #expect(try await fixture.publish(record))
        #expect(try await fixture.record() == record)
        #expect(try await !fixture.publish(record))
        // The next lease is for something newer, and nothing older is published under it.
        #expect(try await fixture.generation(after: record.generation) > record.generation)
        #expect(try await !fixture.publish(record))
    }

    @Test(arguments: Engine.installed)
    func whoHasNotSeenARecordGetsItInThePlaceOfTheLease(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        let record = try await fixture.published("one")
        #expect(try await fixture.acquire() == .published(record))
        #expect(record.generation > 1_000_000)
    }

    @Test(arguments: Engine.installed)
    func generationsGrowAlsoWhenRecordsAreForgotten(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        var last: Int64 = 0
        for _ in 0..<3 {
            let record = try await fixture.published("x")
            #expect(record.generation > last)
            last = record.generation
            try await fixture.forget(["a"])
            #expect(try await fixture.record() == nil)
        }
        #expect(try await fixture.generation(after: last + 1_000_000_000) > last + 1_000_000_000)
    }

    @Test(arguments: Engine.installed)
    func aRecordSaysSomethingElseOnlyAsLongAsItIsThatOne(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        func amend(_ text: String, _ generation: Int64) async throws -> Bool {
            try await fixture.store.amend(
                SharedRecord(generation: generation, content: ByteBuffer(string: text)), of: "a",
                lifetime: .seconds(60))
        }
        let first = try await fixture.published("one")
        #expect(try await amend("confirmed", first.generation))
        let amended = try #require(try await fixture.record())
        #expect(String(buffer: amended.content) == "confirmed")
        #expect(amended.generation == first.generation)
        let second = try await fixture.published("two", after: first.generation)
        #expect(try await !amend("too late", first.generation))
        #expect(try await fixture.record() == second)
        try await fixture.forget(["a"])
        #expect(try await !amend("gone", second.generation))
        #expect(try await fixture.record() == nil)
    }

    @Test(arguments: Engine.installed)
    func aMarkIsLaterThanWhatWasBegunBeforeIt(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        #expect(try await fixture.mark(of: "x", "y") == 0)
        let before = try await fixture.generation()
        try await fixture.forget([], marking: ["x"])
        let first = try await fixture.mark(of: "x", "y")
        #expect(first >= before)
        try await fixture.forget([], marking: ["y"])
        #expect(try await fixture.mark(of: "x") == first)
        let latest = try await fixture.mark(of: "x", "y")
        #expect(latest > first)
        let acquired = try await fixture.store.acquire(
            "b", token: "t", for: .seconds(600), after: latest, marks: ["x", "y"])
        #expect(acquired.mark == latest)
        guard case .acquired(let after) = acquired.value else {
            throw EngineError("\(acquired.value)")
        }
        #expect(after > latest)
    }

    @Test(arguments: Engine.installed)
    func whatIsForgottenGoesWithItsLeaseAndIsTold(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        let record = try await fixture.published("one")
        _ = try await fixture.generation(after: record.generation)
        try await fixture.forget(["a"])
        #expect(try await fixture.record() == nil)
        #expect(try await !fixture.store.renew("a", token: "t", for: .seconds(600)))
        #expect(await fixture.messages.waitFor(count: 1) == ["forget"])
        try await fixture.store.tell(ByteBuffer(string: "pause"), of: .pauses)
        #expect(await fixture.messages.waitFor(count: 2) == ["forget", "pause"])
    }

    @Test(arguments: Engine.installed)
    func onlyThoseWhoWaitAreToldOfTheEndOfALease(_ engine: Engine) async throws {
        let fixture = try await Fixture(engine)
        let store = fixture.store
        await store.waitForNews()
        var news: [News] = []
        for (name, isWaitedFor) in [("a", false), ("b", true), ("c", true)] {
            news.append(store.news(of: name))
            let generation = try await fixture.generation(name)
            if isWaitedFor { _ = try await fixture.acquire(name, "u") }
            if name == "b" {
                try await store.release(name, token: "t")
            } else {
                let record = SharedRecord(generation: generation, content: ByteBuffer())
                #expect(try await fixture.publish(record, name))
            }
        }
        await news[1].arrival.value
        await news[2].arrival.value
        // Word of it would have come before.
        #expect(!news[0].arrival.isGiven)
        for each in news { each.end() }
    }
}
