import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

struct SessionConfigurationTests {
    private let url = URL(string: "http://a.example/x.png")!
    private let body = Data([42, 1])

    /// Defect: D-22
    @Test func settingItCancelsRunningDownloads() async throws {
        let transport = ScriptedTransport(body: body, after: Gate())
        let downloader = ImageDownloader(name: "test", transport: transport)
        let results = Recorder<LoadingResult>()
        for _ in 0..<2 { downloader.download(url, into: results) }
        downloader.sessionConfiguration = .default
        #expect(results.events.map(\.errorCode) == [1003, 1003])
    }

    @Test func additionalHeaderFieldsAreAddedWhereThereIsNone() async throws {
        let transport = ScriptedTransport(body: body)
        let downloader = ImageDownloader(name: "test", transport: transport)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-App": "halcyon", "X-Number": 7]
        downloader.sessionConfiguration = configuration
        // It was copied.
        configuration.httpAdditionalHeaders = ["X-App": "late"]
        let modifier = changing { request in
            #expect(request.value(forHTTPHeaderField: "X-App") == nil)
            request.setValue("8", forHTTPHeaderField: "x-number")
        }
        _ = await downloader.result(url)
        _ = await downloader.result(url, .modifying(modifier))
        let sent = transport.requests.events
        #expect(sent.map { $0.value(forHTTPHeaderField: "X-App") } == ["halcyon", "halcyon"])
        #expect(sent.map { $0.value(forHTTPHeaderField: "X-Number") } == ["7", "8"])
    }

    @Test func theNumberOfConnectionsIsTakenOver() {
        let downloader = ImageDownloader(name: "test")
        #expect(downloader.maximumConnectionsPerHost == 6 && downloader.downloadTimeout == 15)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 2
        downloader.sessionConfiguration = configuration
        #expect(downloader.maximumConnectionsPerHost == 2)
        #expect(downloader.sessionConfiguration.httpMaximumConnectionsPerHost == 2)
    }

    @Test func theShorterTimeoutCounts() throws {
        var settings = DownloaderSettings()
        let request = URLRequest(url: url, timeoutInterval: 100)
        settings.maximumDownloadDuration = 1_000
        #expect(settings.stallTimeout(of: request) == .seconds(100))
        #expect(settings.longestDownload == .seconds(1_000))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 50
        configuration.timeoutIntervalForResource = 500
        settings.apply(configuration)
        #expect(settings.stallTimeout(of: request) == .seconds(50))
        #expect(settings.longestDownload == .seconds(500))
        settings.maximumDownloadDuration = 400
        #expect(settings.longestDownload == .seconds(400))
        settings.maximumDownloadDuration = nil
        #expect(settings.longestDownload == .seconds(500))
        let urgent = URLRequest(url: url, timeoutInterval: 5)
        #expect(settings.stallTimeout(of: urgent) == .seconds(5))
    }
}
