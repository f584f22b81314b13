import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

@Suite struct ResumptionTests {
    let fixture: ResumptionFixture
    private var picture: Data { fixture.picture }
    private var half: Int { picture.count / 2 }

    init() async throws {
        fixture = try await ResumptionFixture()
    }

    private func serveHalf() {
        fixture.origin.route(
            fixture.path, fixture.response.with(.breakOff(afterBytes: half, .close, times: 1)))
    }

    @Test func nothingIsKeptByDefault() async throws {
        let downloader = ImageDownloader.patient()
        #expect(downloader.resumption == nil)
        serveHalf()
        #expect(await fixture.load(downloader).errorCode == 2003)
        #expect(await fixture.load(downloader).bytes == picture)
        #expect(fixture.ranges == [nil, nil])
        #expect(await downloader.partialsSize == 0)
    }

    @Test func whereverItBreaksOffThePictureIsTheResult() async throws {
        for count in 0..<picture.count {
            fixture.origin.forgetTraffic()
            #expect(await fixture.breakOff(after: count).errorCode == 2003)
            fixture.origin.route(fixture.path, fixture.response)
            let result = await fixture.load()
            #expect(result.bytes == picture, "broken off after \(count) bytes")
            #expect(fixture.ranges == [nil, count == 0 ? nil : "bytes=\(count)-"])
            let request = try #require(fixture.origin.requests(for: fixture.path).last)
            #expect(request.headers["If-Range"] == (count == 0 ? nil : fixture.tag))
            #expect(try fixture.files().isEmpty)
        }
    }

    @Test func aCancelledDownloadGoesOn() async throws {
        let gate = Gate()
        fixture.origin.route(
            fixture.path, fixture.response.with(.hold(afterBytes: half, .gate(gate))))
        let downloader = fixture.downloader()
        let ended = OneShot<LoadingResult>()
        let progress = Recorder<Int64>()
        let task = downloader.downloadImage(
            with: fixture.url, options: [.processor(FirstByteProcessor())],
            progressBlock: { received, _ in progress.record(received) }
        ) { ended.give($0) }
        await progress.wait { [half] in $0.last == Int64(half) }
        task.cancel()
        #expect(await ended.value.errorCode == 1003)
        // The thread of the network has let go of the transfer when it brings another answer.
        #expect(await downloader.result(fixture.origin.url("/missing")).errorCode == 2002)
        await downloader.finishWritingPartials()
        #expect(await downloader.partialsSize == half)
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges == [nil, "bytes=\(half)-"])
        gate.open()
    }

    @Test func aRetryGoesOnFromMemory() async throws {
        // There is no place for files.
        try fixture.folder.write(Data(), to: "partials")
        serveHalf()
        let cache = try ImageCache(name: "test", cacheDirectoryURL: fixture.folder.url)
        let manager = KingfisherManager(downloader: fixture.downloader(), cache: cache)
        let retry = DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))
        let result = try await manager.retrieveImage(
            with: fixture.url, options: [.retryStrategy(retry)])
        #expect(result.data() == picture && fixture.ranges == [nil, "bytes=\(half)-"])
        #expect(result.metrics?.resumedByteCount == Int64(half))
    }

    @Test func theProgressBeginsWhereTheFirstPartEnded() async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path, fixture.response.with(.slices(bytes: 7)))
        let progress = Recorder<[Int64]>()
        _ = try await fixture.downloader().downloadImage(
            with: fixture.url, options: [.processor(FirstByteProcessor())]
        ) { progress.record([$0, $1]) }
        await progress.wait { $0.last?[0] == Int64(picture.count) }
        let received = progress.events.map { $0[0] }
        #expect(received == received.sorted())
        #expect(try #require(received.first) >= Int64(half))
        #expect(progress.events.allSatisfy { $0[1] == Int64(picture.count) })
    }

    @Test func aProgressivePictureIsShownFromTheFirstPart() async throws {
        let jpeg = try ProgressiveFixture()
        let fixture = try await ResumptionFixture(picture: jpeg.data)
        _ = await fixture.breakOff(after: jpeg.scanEnds[4])
        let gate = Gate()
        fixture.origin.route(fixture.path, fixture.response.with(.hold(afterBytes: 0, .gate(gate))))
        let shown = Recorder<Image?>()
        let progressive = ImageProgressive(isBlur: false, isFastestScan: true, scanInterval: 0)
        let cache = try ImageCache(name: "test", cacheDirectoryURL: fixture.folder.url)
        let request = ImageRequest(
            source: .network(fixture.url),
            options: KingfisherParsedOptionsInfo([
                .downloader(fixture.downloader()), .targetCache(cache), .cacheMemoryOnly,
                .progressiveJPEG(progressive),
            ]), probing: .onCallingThread, progressiveConsumer: { shown.record($0) })
        async let result = request.run()
        // Nothing of the rest has been sent.
        await shown.waitFor(count: 1)
        gate.open()
        #expect(try await result.get().data() == jpeg.data)
    }

    @Test func aPartBelongsToTheHopThatSentIt() async throws {
        fixture.origin.route("/elsewhere.png", .redirect(to: fixture.path))
        let elsewhere = fixture.origin.url("/elsewhere.png")
        serveHalf()
        #expect(await fixture.load(of: elsewhere).errorCode == 2003)
        #expect(await fixture.load(of: elsewhere).bytes == picture)
        #expect(
            fixture.origin.requests(for: "/elsewhere.png").allSatisfy {
                $0.headers["Range"] == nil && $0.headers["If-Range"] == nil
            })
        #expect(fixture.ranges == [nil, "bytes=\(half)-"])
    }

    @Test func signedURLsShareThePart() async throws {
        serveHalf()
        let options = KingfisherParsedOptionsInfo.processing(
            FirstByteProcessor(), [.cacheKeyNormalizer(.signedURLs)])
        func url(_ signature: String) -> URL {
            fixture.origin.url("\(fixture.path)?Signature=\(signature)")
        }
        #expect(await fixture.load(of: url("a"), nil, options).errorCode == 2003)
        #expect(await fixture.load(of: url("b"), nil, options).bytes == picture)
        #expect(fixture.ranges == [nil, "bytes=\(half)-"])
    }

    @Test func theDelegateSeesRequestAndAnswerAsTheyAre() async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path, fixture.response)
        let downloader = fixture.downloader()
        let witness = Witness()
        downloader.delegate = witness
        let result = await fixture.load(downloader)
        #expect(result.bytes == picture && witness.statuses.events == [206])
        #expect(witness.ranges.events == ["bytes=\(half)-"] && witness.data.events == [picture])
        // What is handed on is the whole.
        let response = try #require(witness.responses.events.first)
        #expect(response.statusCode == 200)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "\(picture.count)")
        #expect(response.value(forHTTPHeaderField: "Content-Range") == nil)
        #expect(response.value(forHTTPHeaderField: "ETag") == fixture.tag)
    }

    private final class Witness: ImageDownloaderDelegate, Sendable {
        let statuses = Recorder<Int>()
        let ranges = Recorder<String?>()
        let data = Recorder<Data>()
        let responses = Recorder<HTTPURLResponse>()

        func imageDownloader(_ downloader: ImageDownloader, didReceive response: URLResponse)
            async -> URLSession.ResponseDisposition
        {
            statuses.record((response as? HTTPURLResponse)?.statusCode ?? 0)
            return .allow
        }

        func imageDownloader(
            _ downloader: ImageDownloader, didDownload data: Data, with task: SessionDataTask
        ) -> Data? {
            self.data.record(data)
            ranges.record(task.currentRequest?.value(forHTTPHeaderField: "Range"))
            if let response = task.response { responses.record(response) }
            return data
        }
    }

    @Test func partialsCanBeMeasuredAndRemoved() async throws {
        _ = await fixture.breakOff(after: half)
        let downloader = fixture.downloader()
        #expect(await downloader.partialsSize == half)
        await downloader.removePartials()
        #expect(await downloader.partialsSize == 0)
        #expect(try fixture.files().isEmpty)
        fixture.origin.route(fixture.path, fixture.response)
        #expect(await fixture.load(downloader).bytes == picture)
        #expect(fixture.ranges == [nil, nil])
    }

    @Test func theFolderIsItsOwnersAlone() async throws {
        _ = await fixture.breakOff(after: half)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.partials.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    // MARK: What happens to the files

    enum Damage: CaseIterable, Sendable {
        case flippedByte, tooShort, tooLong
    }

    @Test(arguments: Damage.allCases)
    func onlySureBytesOfAFileAreUsed(damage: Damage) async throws {
        _ = await fixture.breakOff(after: half)
        let file = try #require(try fixture.files().first)
        var data = try Data(contentsOf: file)
        switch damage {
        case .flippedByte: data[data.count / 2] ^= 1
        case .tooShort: data.removeLast()
        case .tooLong: data.append(contentsOf: [1, 2, 3])
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges == [nil, damage == .tooLong ? "bytes=\(half)-" : nil])
    }

    @Test func whatAnotherHoldsIsLeftAlone() async throws {
        _ = await fixture.breakOff(after: half)
        let file = try #require(try fixture.files().first)
        let held = try FileHandle(forUpdating: file)
        #expect(flock(held.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        // Neither used nor replaced nor removed.
        #expect(await fixture.breakOff(after: half + 10).errorCode == 2003)
        await fixture.downloader().removePartials()
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges == [nil, nil, nil])
        #expect(try Data(contentsOf: file) == picture.prefix(half))
        flock(held.fileDescriptor, LOCK_UN)
        #expect(await fixture.load().bytes == picture)
        #expect(fixture.ranges.last == "bytes=\(half)-")
    }

    @Test func twoDownloadersDoNotWriteOneFile() async throws {
        let gate = Gate()
        fixture.origin.route(
            fixture.path, fixture.response.with(.hold(afterBytes: half, .gate(gate))))
        async let one = fixture.load()
        async let other = fixture.load()
        await gate.waitForWaiters(2)
        gate.open()
        #expect(await [one.bytes, other.bytes] == [picture, picture])
        #expect(try fixture.files().isEmpty)
    }
}
