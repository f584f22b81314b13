import Foundation
import HalcyonTestKit
import HalcyonWork
import Synchronization
import Testing

@testable import Halcyon

/// A handler of work that may need the disk or the network is called after the call has returned: within it, a
/// lock that the caller holds would be a deadlock.
@Suite struct HandlerOrderTests {
    /// The calls of each kind, of which `./test --gate` counts a tenth.
    private static let callCount =
        ProcessInfo.processInfo.environment["HALCYON_TEST_SHORT"] == nil ? 10_000 : 1_000

    @Test(arguments: HandledCall.allCases) func comesAfterTheCallHasReturned(
        _ call: HandledCall
    ) async throws {
        let world = try await HandledCallWorld()
        let watch = CallWatch()
        for number in 0..<Self.callCount {
            world.forget()
            await watch.end { done in call.begin(in: world, number: number, done: done) }
        }
        watch.expect(Self.callCount)
    }

    @MainActor @Test(arguments: [CallbackQueue.mainCurrentOrAsync, .mainAsync, .untouch])
    func comesAfterACallOnTheMainQueue(on queue: CallbackQueue) async throws {
        let world = try await HandledCallWorld()
        let watch = CallWatch()
        for _ in 0..<1_000 {
            await watch.end { done in
                world.cache.retrieveImageInDiskCache(
                    forKey: "nothing", callbackQueue: queue
                ) { _ in done() }
            }
        }
        watch.expect(1_000)
    }

    @MainActor @Test func aViewsComesAfterTheCallHasReturned() async throws {
        let world = try await HandledCallWorld()
        let (view, button, holder) = (HeadlessImageView(), HeadlessButton(), HeadlessImageHolder())
        let watch = CallWatch()
        let options: KingfisherOptionsInfo =
            [.targetCache(world.cache), .onlyFromCache] + world.items
        for number in 0..<3_000 {
            world.forget()
            let url = number % 2 == 0 ? world.cached : URL(string: "http://example.com/missing")
            await watch.end { done in
                switch number % 3 {
                case 0: view.kf.setImage(with: url, options: options) { _ in done() }
                case 1:
                    button.kf.setImage(with: url, for: .normal, options: options) { _ in done() }
                default: holder.kf.setImage(with: url, options: options) { _ in done() }
                }
            }
        }
        watch.expect(3_000)
    }

    @Test(arguments: [false, true]) func aValueThatIsEarlyIsKeptUntilTheCallHasReturned(
        onAnotherThread: Bool
    ) async {
        let calls = Recorder<Int>()
        let returned = CallbackQueue.untouch.deliver(to: { calls.record($0) }) { hand in
            if onAnotherThread {
                let isGiven = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    hand(1)
                    isGiven.signal()
                }
                isGiven.wait()
            } else {
                hand(1)
            }
            return calls.count
        }
        #expect(returned == 0)
        #expect(await calls.waitFor(count: 1) == [1])
    }

    @Test func aValueThatIsLateIsDeliveredWhereItCameFrom() async {
        let calls = Recorder<Int>()
        var give: (@Sendable (Int) -> Void)?
        CallbackQueue.untouch.deliver(to: { calls.record($0) }) { give = $0 }
        give?(1)
        #expect(calls.events == [1])
    }

    /// Upstream: testCachedImageIsFetchedSynchronouslyFromTheMemoryCache,
    /// testImageCachedTypeAsyncMemoryHit
    @Test func whatNeedsNeitherDiskNorNetworkIsThereBeforeTheCallReturns() async throws {
        let world = try await HandledCallWorld()
        let (cache, calls) = (world.cache, Recorder<String>())
        var options = KingfisherParsedOptionsInfo(world.items)
        cache.store(world.image, forKey: "2", options: options, toDisk: false) { _ in
            calls.record("store")
        }
        cache.retrieveImage(forKey: "2", options: options, callbackQueue: .untouch) { _ in
            calls.record("look-up")
        }
        cache.imageCachedTypeAsync(forKey: "2", callbackQueue: .untouch) { _ in
            calls.record("type")
        }
        options.fromMemoryCacheOrRefresh = true
        cache.retrieveImage(forKey: "1", options: options, callbackQueue: .untouch) { _ in
            calls.record("memory only")
        }
        cache.removeImage(forKey: "2", fromDisk: false) { calls.record("remove") }
        #expect(calls.events == ["store", "look-up", "type", "memory only", "remove"])
    }

    /// Upstream: testRetrieveDiskCacheSynchronously
    @Test func aDiskThatIsReadOnTheCallingThreadIsReadBeforeTheCallReturns() async throws {
        let world = try await HandledCallWorld()
        let calls = Recorder<CacheType>()
        let options: KingfisherOptionsInfo = world.items + [.loadDiskFileSynchronously]
        for key in ["1", "nothing"] {
            world.cache.retrieveImageInDiskCache(forKey: key, options: options) {
                if case .success(let image) = $0 { calls.record(image == nil ? .none : .disk) }
            }
            world.cache.retrieveImage(forKey: key, options: options, callbackQueue: .untouch) {
                if case .success(let found) = $0 { calls.record(found.cacheType) }
            }
        }
        world.forget()
        world.manager.retrieveImage(with: world.cached, options: [.loadDiskFileSynchronously]) {
            if case .success(let found) = $0 { calls.record(found.cacheType) }
        }
        #expect(calls.events == [.disk, .disk, .none, .none, .disk])
    }
}

/// Counts the handlers that run on the thread of the call they were given to, while it runs.
private final class CallWatch: Sendable {
    private struct State {
        /// The thread of the call that runs.
        var caller: pthread_t?
        var count = 0
        var insideCount = 0
    }

    private let state = Mutex(State())

    /// Expects that many handlers have run, none of them inside of its call.
    func expect(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let (all, inside) = state.withLock { ($0.count, $0.insideCount) }
        #expect(all == count && inside == 0, "\(all), \(inside)", sourceLocation: sourceLocation)
    }

    /// Runs `call`, and returns when it has called the function it is given.
    func end(_ call: (_ done: @escaping @Sendable () -> Void) -> Void) async {
        await handedOver { hand in
            state.withLock { $0.caller = pthread_self() }
            call { [self] in
                state.withLock { state in
                    state.count += 1
                    if state.caller == pthread_self() { state.insideCount += 1 }
                }
                hand(())
            }
            state.withLock { $0.caller = nil }
        }
    }
}
