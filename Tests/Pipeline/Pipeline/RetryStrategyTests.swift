import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Synchronization
import Testing

@testable import Halcyon

@Suite struct RetryStrategyTests {
    private let response = KingfisherError.responseError(
        reason: .URLSessionError(error: URLError(.networkConnectionLost)))
    private let notResponse = KingfisherError.requestError(reason: .emptyRequest)
    private let cancelled: KingfisherError

    init() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        cancelled = .neverStarted(URLRequest(url: url))
    }

    private func context(_ error: KingfisherError, retried: Int = 0) -> RetryContext {
        let context = RetryContext(
            source: .provider(RawImageDataProvider(data: Data(), cacheKey: "a")), error: error)
        context.retriedCount = retried
        return context
    }

    private func decision(of strategy: any RetryStrategy, on context: RetryContext) async
        -> RetryDecision
    {
        await handedOver { hand in strategy.retry(context: context) { hand($0) } }
    }

    private func retries(_ strategy: any RetryStrategy, after error: KingfisherError) async -> Bool
    {
        await decision(of: strategy, on: context(error)).isRetry
    }

    /// The decisions of a strategy on a network, as they come.
    private func decisions(
        on network: FakeNetwork, timeout: TimeInterval? = nil
    ) -> Recorder<RetryDecision> {
        let decisions = Recorder<RetryDecision>()
        NetworkRetryStrategy(timeoutInterval: timeout, monitor: network)
            .retry(context: context(response)) { decisions.record($0) }
        return decisions
    }

    // MARK: With a delay

    /// Upstream: testCanCreateRetryStrategy
    @Test func aDelayStrategyKeepsItsParameters() {
        let strategy = DelayRetryStrategy(maxRetryCount: 10, retryInterval: .seconds(5))
        #expect(strategy.maxRetryCount == 10 && strategy.retryInterval.timeInterval(for: 7) == 5)
        #expect(DelayRetryStrategy(maxRetryCount: 1).retryInterval.timeInterval(for: 0) == 3)
        #expect(NetworkRetryStrategy().timeoutInterval == 30)
    }

    /// Upstream: testDelayRetryIntervalCalculating
    @Test func intervalsAreConstantOrGrowOrAreComputed() {
        typealias Interval = DelayRetryStrategy.Interval
        func times(_ interval: Interval) -> [TimeInterval] {
            (0..<5).map(interval.timeInterval(for:))
        }
        #expect(times(.seconds(1)) == [1, 1, 1, 1, 1])
        #expect(times(.accumulated(2)) == [2, 4, 6, 8, 10])
        #expect(times(.custom { pow(2, Double($0)) }) == [1, 2, 4, 8, 16])
        #expect(times(.exponential(base: 1, limit: 5, jitter: 0)) == [1, 2, 4, 5, 5])
        for (time, plain) in zip(times(.exponential(base: 1, limit: 5)), [1.0, 2, 4, 5, 5]) {
            #expect((plain * 0.8...plain * 1.2).contains(time))
        }
    }

    /// Upstream: testDelayRetryStrategyExceededCount
    @Test func aDelayStrategyStopsAtItsCount() async {
        let strategy = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0))
        for retried in 0..<3 {
            let decision = await decision(of: strategy, on: context(response, retried: retried))
            #expect(decision.isRetry && decision.userInfo == nil)
        }
        #expect(await !decision(of: strategy, on: context(response, retried: 3)).isRetry)
    }

    /// Upstream: testDelayRetryStrategyNotRetryForErrorReason, testDelayRetryStrategyDidRetried
    @Test func aDelayStrategyRetriesResponseErrorsOnly() async {
        let strategy = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0.01))
        #expect(await !retries(strategy, after: cancelled))
        #expect(await !retries(strategy, after: notResponse))
        #expect(await retries(strategy, after: response))
    }

    // MARK: What the server asks for

    private func refused(_ status: Int, _ fields: [String: String]) throws -> KingfisherError {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
        return .responseError(reason: .invalidHTTPStatusCode(response: response))
    }

    @Test(arguments: [413, 429, 503])
    func theContextTellsHowLongTheServerWantsToBeLeftAlone(status: Int) throws {
        let context = context(try refused(status, ["Retry-After": "40"]))
        let seconds = try #require(context.retryAfter)
        #expect(seconds > 0 && seconds <= 40)
        // The latest failure counts.
        context.error = response
        #expect(context.retryAfter == nil)
        context.error = try refused(status, ["retry-after": "0"])
        #expect(context.retryAfter == 0)
        // What was not sent because of it may be sent when it is over.
        context.error = .transport(
            ImageTransportError.pausedByServer(url: "", until: Date(timeIntervalSinceNow: 40)))
        let left = try #require(context.retryAfter)
        #expect(left > 0 && left <= 40)
    }

    @Test func aDateIsComparedWithTheServersOwnClock() throws {
        let fields = [
            "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT",
            "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        let seconds = try #require(context(try refused(503, fields)).retryAfter)
        #expect(seconds > 0 && seconds <= 60)
    }

    @Test func otherAnswersAndOtherWordsAskForNothing() throws {
        let errors = [
            try refused(500, ["Retry-After": "40"]), try refused(503, ["Retry-After": "soon"]),
            try refused(503, [:]), notResponse,
        ]
        #expect(errors.allSatisfy { context($0).retryAfter == nil })
    }

    @Test func theLongerOfIntervalAndRetryAfterIsWaited() throws {
        let context = context(try refused(429, ["Retry-After": "40"]))
        func delay(_ interval: TimeInterval, maximum: TimeInterval = 60) -> TimeInterval? {
            DelayRetryStrategy(
                maxRetryCount: 1, retryInterval: .seconds(interval), maximumRetryAfter: maximum
            ).delay(for: context)
        }
        #expect(delay(50) == 50)
        let asked = try #require(delay(3))
        #expect(asked > 3 && asked <= 40)
        // Too long, and not looked at.
        #expect(delay(3, maximum: 10) == nil && delay(3, maximum: 0) == 3)
        context.retriedCount = 1
        #expect(delay(3) == nil && DelayRetryStrategy(maxRetryCount: 1).maximumRetryAfter == 60)
    }

    @Test func aNetworkStrategyWaitsForTheServerWhileConnected() async throws {
        let network = FakeNetwork(isConnected: true)
        func decision(after seconds: String, maximum: TimeInterval = 60) async throws -> Bool {
            let strategy = NetworkRetryStrategy(
                timeoutInterval: nil, maximumRetryAfter: maximum, monitor: network)
            let context = context(try refused(503, ["Retry-After": seconds]))
            return await self.decision(of: strategy, on: context).isRetry
        }
        #expect(try await decision(after: "0"))
        #expect(try await decision(after: "1"))
        // Far beyond the limit: what is left of the time grows less while the test runs.
        #expect(try await !decision(after: "3600"))
        #expect(try await decision(after: "3600", maximum: 0))
    }

    // MARK: With the network

    /// Upstream: testNetworkRetryStrategyRetriesImmediatelyWhenConnected
    @Test func whileConnectedANetworkStrategyRetriesAtOnce() {
        let decisions = decisions(on: FakeNetwork(isConnected: true)).events
        #expect(decisions.map(\.isRetry) == [true] && decisions[0].userInfo == nil)
    }

    /// Upstream: testNetworkRetryStrategyStopsForTaskCancelled,
    /// testNetworkRetryStrategyStopsForNonResponseError
    @Test(arguments: [true, false])
    func aNetworkStrategyRetriesResponseErrorsOnly(connected: Bool) async {
        let network = FakeNetwork(isConnected: connected)
        let strategy = NetworkRetryStrategy(timeoutInterval: nil, monitor: network)
        #expect(await !retries(strategy, after: cancelled))
        #expect(await !retries(strategy, after: notResponse))
        #expect(network.observerCount == 0)
    }

    /// Upstream: testNetworkRetryStrategyWithTimeout
    @Test func aNetworkStrategyStopsAtItsTimeout() async throws {
        let network = FakeNetwork(isConnected: false)
        let decisions = decisions(on: network, timeout: 0.1)
        #expect(decisions.count == 0 && network.timeouts == [0.1])
        network.timeOut()
        #expect(decisions.events.map(\.isRetry) == [false])

        // With the kernel's tables, of which these have no route.
        let folder = try TemporaryDirectory()
        let real = NetworkRetryStrategy(timeoutInterval: 0.1, monitor: folder.monitor())
        #expect(await !retries(real, after: response))
    }

    /// Upstream: testNetworkRetryStrategyWaitsForReconnection
    @Test func aNetworkStrategyRetriesWhenTheNetworkComesBack() {
        let network = FakeNetwork(isConnected: false)
        let decisions = decisions(on: network)
        #expect(decisions.count == 0)
        network.connect()
        #expect(decisions.events.map(\.isRetry) == [true] && decisions.events[0].userInfo != nil)
    }

    /// Upstream: testNetworkRetryStrategyCancelsPreviousObserver
    @Test func aSecondQuestionSilencesTheFirst() {
        let network = FakeNetwork(isConnected: false)
        let strategy = NetworkRetryStrategy(timeoutInterval: nil, monitor: network)
        let context = context(response)
        let told = Recorder<Int>()
        strategy.retry(context: context) { _ in told.record(1) }
        strategy.retry(context: context) { _ in told.record(2) }
        network.connect()
        #expect(told.events == [2])
    }

    /// Upstream: testNetworkObserverNotifiesOnlyOnce, testNetworkObserverDoesNotNotifyAfterCancel
    @Test(arguments: [false, true])
    func anObserverIsToldOnceUnlessItIsCancelled(isCancelled: Bool) throws {
        let folder = try TemporaryDirectory()
        let monitor = folder.monitor()
        let told = Recorder<Bool>()
        let observer = monitor.observeConnectivity(timeoutInterval: nil) { told.record($0) }
        #expect(!monitor.isConnected)
        monitor.changed()
        #expect(told.count == 0)
        if isCancelled { observer.cancel() }
        try folder.write(Self.routes, to: "route")
        #expect(monitor.isConnected)
        monitor.changed()
        monitor.changed()
        #expect(told.events == (isCancelled ? [] : [true]))
        observer.cancel()
    }

    @Test func withoutAWayOutOnlyTheNetworksOfThisMachineAreReached() throws {
        let folder = try TemporaryDirectory()
        let monitor = folder.monitor()
        let near = """
            Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
            eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            eth0\t0000000A\t0101A8C0\t0003\t0\t0\t0\t000000FF\t0\t0\t0

            """
        let near6 = """
            fd000000000000010000000000000000 40 \(String(repeating: "0", count: 32)) 00 \
            \(String(repeating: "0", count: 32)) 00000100 00000001 00000000 00000001 eth0

            """
        try folder.write(Data(near.utf8), to: "route")
        try folder.write(Data(near6.utf8), to: "ipv6_route")
        #expect(!monitor.isConnected)
        for host in ["127.0.0.1", "localhost", "[::1]", "192.168.1.7", "[fd00:0:0:1::7]"] {
            #expect(monitor.reaches(host), "\(host)")
        }
        for host in ["192.168.2.7", "10.0.0.1", "[fd00:0:0:2::7]", "a.example"] {
            #expect(!monitor.reaches(host), "\(host)")
        }
        try folder.write(Self.routes, to: "route")
        #expect(monitor.reaches("a.example"))
    }

    private static let routes = Data(
        """
        Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
        eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0

        """.utf8)

    /// Defect: D-4
    @Test func aLastingFailureIsNotRetriedForEver() async {
        let network = FakeNetwork(isConnected: true)
        for (strategy, limit) in [
            (NetworkRetryStrategy(timeoutInterval: nil, monitor: network), 10),
            (NetworkRetryStrategy(timeoutInterval: nil, maxRetryCount: 3, monitor: network), 3),
        ] {
            let context = context(response)
            var retries = 0
            while retries < 1000, await decision(of: strategy, on: context).isRetry {
                context.willRetry(userInfo: nil)
                retries += 1
            }
            #expect(retries == limit)
        }
    }
}

extension TemporaryDirectory {
    fileprivate func monitor() -> NetworkMonitor {
        NetworkMonitor(routes: RouteTable(folder: url.path))
    }
}

extension RetryDecision {
    fileprivate var isRetry: Bool { if case .retry = self { true } else { false } }
    fileprivate var userInfo: Any? { if case .retry(let info) = self { info } else { nil } }
}

/// A network that comes and times out when told.
final class FakeNetwork: NetworkMonitoring {
    private struct Waiting {
        let observer: NetworkObserver
        let timeout: TimeInterval?
        let callback: @Sendable (Bool) -> Void
    }

    private struct State {
        var isConnected: Bool
        var waiting: [Waiting] = []
    }

    private let state: Mutex<State>
    /// One event for each time that somebody began to wait for the network.
    let observations = Recorder<Void>()

    init(isConnected: Bool) {
        state = Mutex(State(isConnected: isConnected))
    }

    var isConnected: Bool { state.withLock { $0.isConnected } }
    func reaches(_ host: String) -> Bool { isConnected }
    var observerCount: Int { state.withLock { $0.waiting.count } }
    var timeouts: [TimeInterval?] { state.withLock { $0.waiting.map(\.timeout) } }

    func observeConnectivity(
        timeoutInterval: TimeInterval?, callback: @escaping @Sendable (Bool) -> Void
    ) -> NetworkObserver {
        let observer = NetworkObserver()
        state.withLock {
            $0.waiting.append(
                Waiting(observer: observer, timeout: timeoutInterval, callback: callback))
        }
        observations.record(())
        return observer
    }

    func connect() { end(connected: true) }
    func timeOut() { end(connected: false) }

    private func end(connected: Bool) {
        let waiting = state.withLock { state in
            state.isConnected = connected
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting where one.observer.end() { one.callback(connected) }
    }
}
