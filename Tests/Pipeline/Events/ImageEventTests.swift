import Foundation
import HalcyonTestKit
import HalcyonTesting
import HalcyonWork
import Testing

@testable import Halcyon

@Suite(.timeLimit(.minutes(20))) struct ImageEventTests {
    private let environment: TestEnvironment
    private let url = URL(string: "https://example.com/bird.png")!
    private let other = URL(string: "https://example.com/other.png")!

    /// The events of a request that has found nothing.
    private static let ofADownload = [
        "started", "waiting", "transferred", "made", "stored memory", "stored disk",
        "succeeded none",
    ]

    init() throws {
        environment = try TestEnvironment()
        environment.transport.answer(url, with: try .image(.solid(.red, width: 40, height: 30)))
    }

    /// The events of the requests that `body` makes, up to the end of the last one.
    private func events(of body: () async throws -> Void) async throws -> [ImageEvent] {
        let recorder = environment.manager.recordedEvents()
        try await body()
        return await recorder.wait { $0.contains(where: \.kind.isEnd) }
    }

    private func retrieve(_ options: KingfisherOptionsInfo = []) async throws {
        _ = try await environment.manager.retrieveImage(
            with: url, options: options + [.waitForCache])
    }

    @Test func aDownloadTellsItsSteps() async throws {
        let events = try await events { try await retrieve() }
        #expect(events.names == Self.ofADownload)
        #expect(Set(events.map(\.request)).count == 1)
        #expect(events.allSatisfy { $0.source == .network(url) })
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
        for event in events {
            if case .made(let waiting, let processing, let rendering) = event.kind {
                #expect(waiting >= .zero && processing >= .zero && rendering > .zero)
            }
        }
    }

    @Test func hitsTellWhere() async throws {
        try await retrieve()
        let memory = try await events { try await retrieve() }
        #expect(memory.names == ["started", "found memory", "succeeded memory"])
        environment.cache.clearMemoryCache()
        let disk = try await events { try await retrieve() }
        #expect(disk.names == ["started", "found disk", "succeeded disk"])
    }

    @Test func aCachedOriginalIsTold() async throws {
        try await retrieve()
        environment.cache.clearMemoryCache()
        let events = try await events {
            try await retrieve([.processor(BlurImageProcessor(blurRadius: 2))])
        }
        #expect(
            events.names == [
                "started", "foundOriginal", "made", "stored memory", "stored disk",
                "succeeded none",
            ])
    }

    @Test func failuresAndRetriesAreTold() async throws {
        environment.transport.answer(url, with: .status(404))
        environment.transport.answer(other, with: .status(500))
        let events = try await events {
            await #expect(throws: KingfisherError.self) {
                try await retrieve([.alternativeSources([.network(other)])])
            }
        }
        #expect(events.names == ["started", "waiting", "retried", "waiting", "failed"])
    }

    @Test func aCancellationIsTold() async throws {
        environment.transport.answer(url, with: TestAnswer.status(200).delayed(by: .seconds(1)))
        let events = try await events {
            let loading = Task { try await retrieve() }
            await environment.clock.waitForSleepers()
            loading.cancel()
            _ = await loading.result
        }
        #expect(events.last?.kind.name == "cancelled")
    }

    @Test func whoSharesADownloadIsToldOfItsOwnRequest() async throws {
        environment.transport.answer(
            url, with: try .image(.solid(.red, width: 4, height: 3)).delayed(by: .seconds(1)))
        let recorder = environment.manager.recordedEvents()
        async let first: Void = retrieve()
        async let second: Void = retrieve()
        await environment.clock.waitForSleepers()
        await recorder.wait { $0.waitingCount == 2 }
        environment.clock.advance(by: .seconds(1))
        _ = try await (first, second)
        let events = await recorder.wait { $0.count(where: \.kind.isEnd) == 2 }
        #expect(environment.transport.requestCount(for: url) == 1)
        let byRequest = Dictionary(grouping: events, by: \.request)
        #expect(byRequest.count == 2)
        // The image is made once.
        #expect(events.count { $0.kind.name == "made" } == 1)
        #expect(byRequest.values.allSatisfy { $0.contains { $0.kind.name == "transferred" } })
    }

    @Test func nothingIsMadeWhenNobodyListens() async throws {
        #expect(!environment.manager.eventHub.isObserved)
        var stream: AsyncStream<ImageEvent>? = environment.manager.events
        #expect(environment.manager.eventHub.isObserved)
        stream = nil
        _ = stream
        #expect(!environment.manager.eventHub.isObserved)
        try await retrieve()
    }

    @Test func everyListenerGetsEveryEvent() async throws {
        let (one, other) = (environment.manager.events, environment.manager.events)
        try await retrieve()
        for stream in [one, other] {
            var names: [String] = []
            for await event in stream {
                names.append(event.kind.name)
                if event.kind.isEnd { break }
            }
            #expect(names.first == "started" && names.last == "succeeded none")
        }
    }

    @Test func aRequestTellsItsOwnListener() async throws {
        let told = Recorder<ImageEvent>()
        let options: KingfisherOptionsInfo = [.onEvent { told.record($0) }]
        try await retrieve(options)
        // One without a listener, of which the other hears nothing.
        try await retrieve()
        let events = await told.wait { $0.contains(where: \.kind.isEnd) }
        #expect(events.names == Self.ofADownload)
        #expect(Set(events.map(\.request)).count == 1)
        #expect(!environment.manager.eventHub.isObserved)
    }

    @Test func theListenerOfARequestIsCalledOnItsQueue() async throws {
        let told = Recorder<String>()
        let queue = DispatchQueue(label: "events")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        try await retrieve([
            .callbackQueue(.dispatch(queue)),
            .onEvent { event in
                told.record("\(event.kind.name) \(DispatchQueue.getSpecific(key: key) == true)")
            },
        ])
        let texts = await told.wait { $0.contains("succeeded none true") }
        #expect(texts.allSatisfy { $0.hasSuffix(" true") } && texts.count == 7)
    }

    @Test func theListenersOfManagerAndRequestHearTheSame() async throws {
        let told = Recorder<ImageEvent>()
        environment.transport.answer(url, with: .status(404))
        let heard = try await events {
            await #expect(throws: KingfisherError.self) {
                try await retrieve([.onEvent { told.record($0) }])
            }
        }
        let events = await told.wait { $0.contains(where: \.kind.isEnd) }
        #expect(events.names == ["started", "waiting", "failed"])
        #expect(events.map(\.time) == heard.map(\.time))
    }

    @Test func eachImageOfASetHasARequest() async throws {
        let told = Recorder<ImageEvent>()
        environment.transport.answer(other, with: try .image(.solid(.blue, width: 4, height: 3)))
        _ = await environment.manager.retrieveEachImage(
            with: [url, other].map { Source.network($0) }, options: [.onEvent { told.record($0) }])
        let events = await told.wait { $0.count(where: \.kind.isEnd) == 2 }
        #expect(Set(events.map(\.request)).count == 2)
        #expect(events.count { $0.kind.name == "started" } == 2)
    }

    /// The second time the image is passed over.
    @Test func aPrefetcherTellsOfWhatItLoads() async throws {
        let told = Recorder<ImageEvent>()
        let options: KingfisherOptionsInfo = [
            .targetCache(environment.cache), .downloader(environment.downloader),
            .onEvent { told.record($0) },
        ]
        for _ in 0..<2 {
            let done = OneShot<Int>()
            ImagePrefetcher(urls: [url], options: options) { _, _, completed in
                done.give(completed.count)
            }.start()
            _ = await done.value
        }
        let events = await told.wait { $0.contains(where: \.kind.isEnd) }
        #expect(events.names.first == "started")
        #expect(events.contains { $0.kind.name == "succeeded none" })
        #expect(Set(events.map(\.request)).count == 1)
    }

    @Test @MainActor func theBuilderTellsItOnTheMainActor() async throws {
        let told = Recorder<String>()
        KF.url(url)
            .targetCache(environment.cache).downloader(environment.downloader)
            .onEvent { event in
                MainActor.preconditionIsolated()
                told.record(event.kind.name)
            }
            .set(to: HeadlessImageView())
        let names = await told.wait { $0.contains("succeeded none") }
        #expect(names.starts(with: ["started", "waiting", "transferred"]))
    }

    @Test func aStoredImageThatIsStillGoodIsToldAsRevalidated() async throws {
        environment.transport.answer(
            url,
            with: try .image(.solid(.red, width: 4, height: 3))
                .header("ETag", "\"1\"").header("Cache-Control", "max-age=0"),
            .status(304).header("ETag", "\"1\""))
        let options: KingfisherOptionsInfo = [.httpCaching(.on)]
        try await retrieve(options)
        let events = try await events { try await retrieve(options) }
        #expect(
            events.names == [
                "started", "waiting", "transferred", "found memory", "revalidated",
                "succeeded memory",
            ])
    }
}

extension KingfisherManager {
    /// What happens from now on to the requests of this manager, in a list whose growth can be awaited.
    func recordedEvents() -> Recorder<ImageEvent> {
        let recorder = Recorder<ImageEvent>()
        // The sequence ends with the manager.
        Task { [events] in
            for await event in events { recorder.record(event) }
        }
        return recorder
    }
}

extension [ImageEvent] {
    fileprivate var names: [String] { map(\.kind.name) }

    /// How many files have been written.
    var fileCount: Int { count { if case .stored(.disk) = $0.kind { true } else { false } } }

    /// How many requests have found nothing and wait for bytes.
    var waitingCount: Int { count { if case .waiting = $0.kind { true } else { false } } }
}

extension ImageEvent.Kind {
    fileprivate var name: String {
        switch self {
        case .started: "started"
        case .found(let type): "found \(type)"
        case .foundOriginal: "foundOriginal"
        case .waiting: "waiting"
        case .transferred: "transferred"
        case .revalidated: "revalidated"
        case .made: "made"
        case .stored(let type): "stored \(type)"
        case .retried: "retried"
        case .succeeded(let type): "succeeded \(type)"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}
