import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct ImageSetTests {
    let fixture: ManagerFixture
    let gates = (0..<6).map { _ in Gate() }
    /// Image `n` is `n + 1` pixels wide and comes when gate `n` opens.
    let urls: [URL]

    init() async throws {
        fixture = try await ManagerFixture()
        for index in 0..<6 {
            let png = PNGFixture.solid(.red, width: index + 1, height: 1)
            fixture.origin.route("/\(index).png", .png(png).with(.wait(.gate(gates[index]))))
        }
        urls = (0..<6).map { [fixture] in fixture.origin.url("/\($0).png") }
    }

    private func openAll() { for gate in gates { gate.open() } }

    @Test func resultsAreInOrderWhateverComesFirst() async throws {
        let arrivals = Recorder<Int>()
        async let results = fixture.manager.retrieveImages(
            with: urls, maximumConcurrentLoads: 6,
            progressBlock: { arrivals.record($0.completedCount) })
        await fixture.origin.waitForRequests(6)
        for (count, gate) in gates.reversed().enumerated() {
            gate.open()
            await arrivals.wait { $0.contains(count + 1) }
        }
        #expect(try await results.map(\.image.pixelSize.width) == [1, 2, 3, 4, 5, 6])
    }

    @Test func noMoreThanTheLimitAreInWork() async throws {
        async let results = fixture.manager.retrieveImages(with: urls, maximumConcurrentLoads: 2)
        await fixture.origin.waitForRequests(2)
        openAll()
        #expect(try await results.count == 6)
        #expect(fixture.origin.peakConcurrentRequests <= 2 && fixture.origin.requestCount == 6)
    }

    @Test func theFirstFailureCancelsTheOthers() async throws {
        fixture.origin.route("/3.png", .status(404).with(.wait(.gate(gates[3]))))
        async let failure = kingfisherError {
            _ = try await fixture.manager.retrieveImages(with: urls, maximumConcurrentLoads: 4)
        }
        await fixture.origin.waitForRequests(4)
        gates[3].open()
        #expect(await failure?.isInvalidResponseStatusCode(404) == true)
        await fixture.origin.waitForAbandonedRequests(3)
        #expect(fixture.origin.requestCount == 4)
        openAll()
    }

    @Test func eachImageCanFailForItself() async {
        fixture.origin.route("/1.png", .status(404))
        openAll()
        let results = await fixture.manager.retrieveEachImage(with: urls)
        #expect(results.map(\.errorCode) == [nil, 2002, nil, nil, nil, nil])
        #expect(results.compactMap(\.width) == [1, 3, 4, 5, 6])
    }

    @Test func theProgressIsThatOfTheWholeSet() async {
        openAll()
        let progress = Recorder<ImageSetProgress>()
        await handedOver { hand in
            fixture.manager.retrieveImages(
                with: urls, options: [.callbackQueue(.mainAsync)],
                progressBlock: { step in
                    #expect(MainQueue.isCurrent)
                    progress.record(step)
                }
            ) { _ in hand(()) }
        }
        let bytes = (0..<6).reduce(0) {
            $0 + Int64(PNGFixture.solid(.red, width: $1 + 1, height: 1).count)
        }
        let end = ImageSetProgress(
            completedCount: 6, totalCount: 6, receivedBytes: bytes, expectedBytes: bytes)
        #expect(progress.events.last == end)
        let counts = progress.events.map(\.completedCount)
        #expect(counts == counts.sorted() && Set(counts).isSuperset(of: 1...6))
        let received = progress.events.map(\.receivedBytes)
        #expect(received == received.sorted())
    }

    @Test func theHandleCancelsEverything() async {
        let results = Recorder<[Int?]>()
        let task = fixture.manager.retrieveEachImage(
            with: urls, options: [.callbackQueue(.untouch)], maximumConcurrentLoads: 2
        ) { outcomes in results.record(outcomes.map(\.errorCode)) }
        await fixture.origin.waitForRequests(2)
        task.cancel()
        task.cancel()
        let codes = await results.waitFor(count: 1)[0]
        #expect(task.isCancelled && fixture.origin.requestCount == 2)
        #expect(codes.count == 6 && codes.allSatisfy { $0 == 1003 || $0 == 1005 })
        openAll()
    }

    @Test func cancellingTheSurroundingTaskCancelsTheSet() async {
        let (manager, urls) = (fixture.manager, urls)
        let task = Task { try await manager.retrieveImages(with: urls).count }
        await fixture.origin.waitForRequests(5)
        task.cancel()
        #expect(await kingfisherError { _ = try await task.value }?.isCancelled == true)
        await fixture.origin.waitForAbandonedRequests(5)
        openAll()
    }

    @Test func anEmptySetIsComplete() async throws {
        #expect(try await fixture.manager.retrieveImages(with: [Source]()).isEmpty)
        let done = Recorder<Int>()
        fixture.manager.retrieveImages(with: [Source](), options: [.callbackQueue(.untouch)]) {
            done.record((try? $0.get().count) ?? -1)
        }
        #expect(await done.waitFor(count: 1) == [0])
    }

    @Test func aSetInMemoryIsDeliveredBeforeTheCallReturnsAndNotLoadedAgain() async throws {
        openAll()
        _ = try await fixture.manager.retrieveImages(with: urls)
        let types = Recorder<[CacheType]>()
        fixture.manager.retrieveImages(with: urls, options: [.callbackQueue(.untouch)]) {
            types.record((try? $0.get().map(\.cacheType)) ?? [])
        }
        #expect(types.events == [[CacheType](repeating: .memory, count: 6)])
        #expect(fixture.origin.requestCount == 6)
    }
}
