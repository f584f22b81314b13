import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct NetworkMetricsTests {
    private let body = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &+ 65) })

    private func metrics(_ times: ExchangeTimes?, end: Duration, bytes: Int = 2_097_152)
        -> NetworkMetrics
    {
        NetworkMetrics(
            .init(
                start: start, end: start + end, times: times, sentByteCount: 3,
                receivedByteCount: bytes, statusCode: 206, redirectCount: 2))
    }

    private let start = ContinuousClock().now

    @Test func durationsAndSpeedFollowFromTheMoments() {
        let times = ExchangeTimes(
            start: start + .seconds(1), sent: start + .seconds(3), answered: start + .seconds(4),
            isConnectionReused: false,
            connecting: ExchangeTimes.Connecting(
                nameLookup: .milliseconds(250), tcp: .milliseconds(500), tls: .seconds(1)))
        let metrics = metrics(times, end: .seconds(7))
        #expect(metrics.totalRequestDuration == 7 && metrics.retrieveImageDuration == 4)
        #expect(metrics.domainLookupDuration == 0.25 && metrics.secureConnectionDuration == 1)
        #expect(metrics.connectDuration == 1.5 && metrics.firstByteDuration == 1)
        #expect(metrics.isConnectionReused == false)
        #expect(metrics.downloadSpeed == 524_288 && metrics.downloadSpeedMBps == 0.5)
        #expect(metrics.requestBodyBytesSent == 3 && metrics.httpStatusCode == 206)
        #expect(metrics.responseBodyBytesReceived == 2_097_152 && metrics.redirectCount == 2)
    }

    @Test func whatIsUnknownIsNil() {
        let unknown = metrics(nil, end: .seconds(7))
        #expect(unknown.totalRequestDuration == 7 && unknown.retrieveImageDuration == nil)
        #expect(unknown.connectDuration == nil && unknown.firstByteDuration == nil)
        #expect(unknown.isConnectionReused == nil && unknown.downloadSpeed == nil)
        #expect(unknown.domainLookupDuration == nil && unknown.secureConnectionDuration == nil)
        let times = ExchangeTimes(start: start, sent: start + .seconds(1))
        #expect(metrics(times, end: .seconds(1)).downloadSpeed == nil)
        #expect(metrics(times, end: .seconds(2), bytes: 0).downloadSpeedMBps == nil)
    }

    /// Upstream: testSessionDelegate
    @Test(arguments: [nil, ["h2"], ["http/1.1"]])
    func aDownloadSaysWhetherItHadToConnect(protocols: [String]?) async throws {
        let server = try await OriginServer.start(tls: protocols.map { OriginTLS(protocols: $0) })
        server.route("/x", .redirect(to: "/y"))
        server.route("/y", .ok(body))
        let downloader = ImageDownloader.patient()
        downloader.trustedHosts = ["localhost"]
        downloader.maximumConnectionsPerHost = 1

        let first = try #require(try await downloader.result(server.url("/y")).get().metrics)
        #expect(first.isConnectionReused == false)
        let connect = try #require(first.connectDuration)
        let firstByte = try #require(first.firstByteDuration)
        let retrieve = try #require(first.retrieveImageDuration)
        #expect(connect > 0 && firstByte > 0 && retrieve >= firstByte)
        let lookup = try #require(first.domainLookupDuration)
        #expect(lookup >= 0 && lookup + connect + retrieve <= first.totalRequestDuration)
        let secure = first.secureConnectionDuration
        #expect(protocols == nil ? secure == nil : (0.0...connect).contains(secure ?? 0))
        #expect((secure ?? 0 > 0) == (protocols != nil))

        let second = try #require(try await downloader.result(server.url("/x")).get().metrics)
        #expect(second.isConnectionReused == true && second.connectDuration == nil)
        #expect(second.domainLookupDuration == nil && second.secureConnectionDuration == nil)
        #expect(second.redirectCount == 1 && second.responseBodyBytesReceived == 5000)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [203, 300, 399]) func onlyASuccessIsMeasured(status: Int) async throws {
        let server = try await OriginServer.start()
        server.route("/x", OriginResponse(status: status, body: .data(body)))
        let result = try await ImageDownloader.patient().result(server.url("/x")).get()
        #expect(result.originalData == body && (result.metrics != nil) == (status == 203))
    }
}
