import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct LowDataModeTests {
    private let small = PNGFixture.data(.gradient(width: 8, height: 6))
    private let fixture: ManagerFixture
    private let source: Source

    init() async throws {
        fixture = try await ManagerFixture()
        fixture.origin.route("/small.png", .png(small))
        source = .network(fixture.origin.url("/small.png"))
    }

    /// Upstream: testLowDataModeSource, testContextTakeLowDataModeSourceIsThreadSafe
    @Test func theLowDataSourceIsLoadedInPlaceOfTheRequestedOne() async throws {
        fixture.downloader.isLowDataModeActive = { true }
        let requests = (0..<30).map { _ in
            fixture.start(fixture.url, [.forceRefresh, .lowDataMode(source)])
        }
        for request in requests {
            let result = try await request.result().get()
            #expect(result.source.url == source.url && result.originalSource.url == fixture.url)
            #expect(result.data() == small)
        }
        #expect(Set(fixture.origin.requests.map(\.path)) == ["/small.png"])
    }

    @Test func theRequestedSourceIsLoadedWhileTheModeIsOff() async throws {
        let result = try await fixture.retrieve([.lowDataMode(source)])
        #expect(result.source.url == fixture.url && result.data() == fixture.png)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func requestsWithoutALowDataSourceDoNotAsk() async throws {
        fixture.downloader.isLowDataModeActive = {
            Issue.record("the mode was asked for")
            return true
        }
        #expect(try await fixture.retrieve().data() == fixture.png)
        #expect(try await fixture.retrieve([.lowDataMode(nil)]).cacheType != .none)
    }

    @Test func theDownloaderAloneFailsBeforeAnythingIsSent() async throws {
        fixture.downloader.isLowDataModeActive = { true }
        let result = await fixture.downloader.result(
            fixture.url, .processing(FirstByteProcessor(), [.lowDataMode(source)]))
        #expect(result.transportError == .lowDataMode(url: fixture.url.absoluteString))
        #expect(fixture.origin.requestCount == 0)
    }

    @Test func theCacheAnswersInLowDataModeToo() async throws {
        _ = try await fixture.retrieve()
        fixture.downloader.isLowDataModeActive = { true }
        let result = try await fixture.retrieve([.lowDataMode(source)])
        #expect(result.cacheType == .memory && result.source.url == fixture.url)
        #expect(fixture.origin.requestCount == 1)
    }
}
