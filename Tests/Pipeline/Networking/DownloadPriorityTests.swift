import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The option `downloadPriority`, up to the order in which a server gets the requests.
struct DownloadPriorityTests {
    private let url = URL(string: "http://a.example/x.png")!
    private let downloader = ImageDownloader(
        name: "test", transport: ScriptedTransport(body: Data([42]), after: Gate()))

    private let results = Recorder<LoadingResult>()

    private func download(
        _ url: URL, _ priority: Float?, from downloader: ImageDownloader
    ) -> DownloadTask {
        let options = KingfisherParsedOptionsInfo.processing(
            FirstByteProcessor(), priority.map { [.downloadPriority($0)] } ?? [])
        return downloader.download(url, options, into: results)
    }

    /// Upstream: testDownloadTaskTakePriorityOption
    @Test func theDownloadTakesThePriorityOfTheOption() {
        let urgent = download(url, 0.75, from: downloader)
        #expect(urgent.sessionTask?.priority == 0.75)
        let plain = download(URL(string: "http://a.example/y.png")!, nil, from: downloader)
        #expect(plain.sessionTask?.priority == 0.5)
        let senseless = download(URL(string: "http://a.example/z.png")!, .nan, from: downloader)
        #expect(senseless.sessionTask?.priority == 0.5)
        downloader.cancelAll()
    }

    @Test func aDownloadIsAsUrgentAsItsMostUrgentCaller() throws {
        let low = download(url, 0.1, from: downloader)
        let task = try #require(low.sessionTask)
        #expect(task.priority == 0.1)
        let high = download(url, 0.9, from: downloader)
        let middle = download(url, 0.4, from: downloader)
        #expect(task === high.sessionTask && task.priority == 0.9)
        high.cancel()
        #expect(task.priority == 0.4)
        middle.cancel()
        #expect(task.priority == 0.1)
        low.cancel()
    }

    @Test func aCallerMayBecomeMoreOrLessUrgent() throws {
        let first = download(url, 0.6, from: downloader)
        let second = download(url, 0.4, from: downloader)
        let task = try #require(first.sessionTask)
        #expect(first.priority == 0.6 && second.priority == 0.4)
        first.priority = 0.2
        #expect(task.priority == 0.4)
        second.priority = 0.1
        #expect(task.priority == 0.2)
        first.priority = 0.9
        #expect(task.priority == 0.9)
        first.cancel()
        #expect(task.priority == 0.1)
        second.priority = .nan
        #expect(second.priority == 0.5 && task.priority == 0.5)
        second.cancel()
    }

    @Test func theServerGetsTheMostUrgentRequestsFirst() async throws {
        let gate = Gate()
        let server = try await OriginServer.start()
        let image = OriginResponse.ok(Data([42]))
        server.route("/first", image.with(.wait(.gate(gate))))
        for name in ["a", "b", "c", "d", "e", "f"] { server.route("/\(name)", image) }
        let downloader = ImageDownloader.patient()
        downloader.maximumConnectionsPerHost = 1
        // A configuration of its own, so that nobody else is in line.
        downloader.connectTimeout = 14.5
        _ = download(server.url("/first"), nil, from: downloader)
        await server.waitForRequests(1)
        let line: [(String, Float)] = [("a", 0.5), ("b", 0.2), ("c", 0.9), ("d", 0.5), ("e", 0.1)]
        let tasks = line.map { download(server.url("/\($0)"), $1, from: downloader) }
        // A more urgent caller joins one download, and one leaves that had made another urgent.
        _ = download(server.url("/e"), 0.8, from: downloader)
        _ = download(server.url("/f"), 0.3, from: downloader)
        let leaver = download(server.url("/f"), 1, from: downloader)
        // A request is in line when the call that makes it returns.
        #expect(try (downloader.transport() as? CurlTransport)?.waitingRequestCount == 6)
        leaver.cancel()
        // In line, one changes its mind.
        tasks[3].priority = 0.85
        gate.open()
        await results.waitFor(count: 9)
        #expect(server.requests.map(\.path) == ["/first", "/c", "/d", "/e", "/a", "/f", "/b"])
    }
}
