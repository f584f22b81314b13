import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// The downloader over a scripted network: who shares what, and who is told what when.
struct ImageDownloaderTests {
    private let url = URL(string: "http://a.example/x.png")!
    private let body = Data([42, 1, 2, 3])
    private let gate = Gate()
    private let results = Recorder<LoadingResult>()
    /// Answers when the gate opens.
    private let held: ScriptedTransport

    init() { held = ScriptedTransport(body: body, after: gate) }

    private func downloader(_ transport: ScriptedTransport) -> ImageDownloader {
        ImageDownloader(name: "test", transport: transport)
    }

    /// Upstream: testDownloadAnImage, testDownloadWithProcessor
    @Test func deliversTheImageTheURLAndTheBytes() async throws {
        let result = try await downloader(ScriptedTransport(body: body)).result(url).get()
        #expect(result.originalData == body && result.url == url)
        #expect(try result.image.bitmap()[0, 0].red == 42.0 / 255)
        #expect(result.image.isRendered && result.metrics?.httpStatusCode == 200)
        #expect(result.metrics?.responseBodyBytesReceived == 4)
    }

    /// Upstream: testDownloadAnImageAsync
    @Test func theAsyncFormsDeliverTheSame() async throws {
        let downloader = downloader(ScriptedTransport(body: body))
        let options: KingfisherOptionsInfo = [.processor(FirstByteProcessor())]
        let results: [ImageLoadingResult] = [
            try await downloader.downloadImage(with: url, options: options),
            try await downloader.downloadImage(with: url, options: .processing()),
            try await downloader.downloadImage(
                with: url, options: options, progressBlock: { _, _ in }),
        ]
        #expect(results.map(\.originalData) == [body, body, body])
    }

    /// Upstream: testDownloadAnImageWithMultipleCallback
    @Test func aThousandCallersOfOneURLShareOneTransferAndOneProcessing() async throws {
        let downloader = downloader(held)
        let processor = FirstByteProcessor()
        let tasks = (0..<1000).map { _ in
            downloader.download(url, .processing(processor), into: results)
        }
        #expect(tasks.map(\.cancelToken) == Array(0..<1000))
        #expect(Set(tasks.map { ObjectIdentifier($0.sessionTask!) }).count == 1)
        gate.open()
        let all = try await results.waitFor(count: 1000).map { try $0.get() }
        #expect(held.requests.count == 1 && processor.calls.count == 1)
        #expect(all.allSatisfy { $0.image === all[0].image && $0.originalData == body })
    }

    /// Upstream: testDownloadWithDifferentProcessors
    @Test func differentProcessorsShareTheTransferOnly() async throws {
        let downloader = downloader(held)
        let processors = [FirstByteProcessor("a"), FirstByteProcessor("b")]
        for processor in processors + processors {
            downloader.download(url, .processing(processor), into: results)
        }
        gate.open()
        await results.waitFor(count: 4)
        #expect(held.requests.count == 1 && processors.map(\.calls.count) == [1, 1])
    }

    @Test func requestsThatDifferInAHeaderFieldAreNotShared() async {
        let downloader = downloader(held)
        for token in ["a", "b", "a"] {
            downloader.download(url, .modifying(setting(["Authorization": token])), into: results)
        }
        gate.open()
        await results.waitFor(count: 3)
        #expect(held.requests.count == 2)
    }

    @Test func completionsComeOnTheCallbackQueue() async {
        let queue = DispatchQueue(label: "test.callback")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let downloader = downloader(ScriptedTransport(body: body))
        for target in [url, URL(string: "ftp://a.example/x")!] {
            let options: KingfisherOptionsInfo = [.callbackQueue(.dispatch(queue))]
            let isThere: Bool = await handedOver { hand in
                downloader.downloadImage(
                    with: target, options: .processing(FirstByteProcessor(), options)
                ) { _ in hand(DispatchQueue.getSpecific(key: key) == true) }
            }
            #expect(isThere)
        }
    }

    @Test func anUnusableURLIsAClearError() async {
        let downloader = downloader(ScriptedTransport(body: body))
        for text in ["file:///tmp/x.png", "ftp://a.example/x", "http:///x", "x.png"] {
            let result = await downloader.result(URL(string: text)!)
            #expect(result.errorCode == 2003 && result.transportError == .unsupportedURL(text))
        }
    }

    /// Upstream: testDownloadResultErrorAndRetry
    @Test func aFailedURLCanBeDownloadedAgain() async throws {
        let requests = Recorder<Void>()
        let transport = ScriptedTransport { [body] _, exchange in
            requests.record(())
            guard requests.count > 1 else {
                throw ImageTransportError.connectionReset(url: "x", reason: "test")
            }
            try await exchange.answer(body)
        }
        let downloader = downloader(transport)
        #expect(await downloader.result(url).errorCode == 2003)
        #expect(try await downloader.result(url).get().originalData == body)
    }

    /// Defect: D-3
    @Test func completesWhenTheDownloaderIsReleasedMeanwhile() async throws {
        downloader(held).download(url, into: results)
        gate.open()
        #expect(await results.waitFor(count: 1).map(\.bytes) == [body])
    }

    /// Upstream: xtestDataReceivingSideEffectBlockCanBeCalled
    @Test func progressIsReportedOnTheMainQueueUpToTheLastByte() async throws {
        let transport = ScriptedTransport { _, exchange in
            try await exchange.respond(headers: ["Content-Length": "100"])
            for byte in 0..<100 { try exchange.send(Data([UInt8(byte + 1)])) }
        }
        let reports = Recorder<[Int64]>()
        let downloader = downloader(transport)
        _ = try await downloader.downloadImage(
            with: url, options: [.processor(FirstByteProcessor())]
        ) { received, total in
            #expect(MainQueue.isCurrent)
            reports.record([received, total])
        }
        let events = await reports.wait { $0.last == [100, 100] }
        #expect(events.map { $0[0] } == events.map { $0[0] }.sorted())
        #expect(events.filter { $0 == [100, 100] }.count == 1)
    }

    @Test func thereIsNoProgressWithoutALength() async throws {
        let transport = ScriptedTransport { [body] _, exchange in
            try await exchange.respond()
            try exchange.send(body)
        }
        _ = try await downloader(transport).downloadImage(
            with: url, options: [.processor(FirstByteProcessor())]
        ) { _, _ in Issue.record("there was progress") }
        await MainActor.run {}
    }

    @Test func refusesAHeaderThatAnnouncesTooMuch() async {
        let transport = ScriptedTransport { _, exchange in
            try await exchange.respond(headers: ["Content-Length": "99999999999999"])
            Issue.record("the body was wanted")
        }
        let result = await downloader(transport).result(url)
        #expect(
            result.transportError
                == .responseTooLarge(url: url.absoluteString, limit: 100 * 1024 * 1024))
    }

    /// Upstream: testModifierShouldOnlyApplyForFinalResultWhenDownload
    @Test func theImageModifierIsNotApplied() async throws {
        let modifier = AnyImageModifier { image in
            Issue.record("the modifier was called")
            return image
        }
        _ = try await downloader(ScriptedTransport(body: body))
            .result(url, .processing(FirstByteProcessor(), [.imageModifier(modifier)])).get()
    }

    /// Upstream: testDownloadingLivePhotoResources
    @Test func bytesAreDownloadedWithoutMakingAnImage() async throws {
        let page = Data("<html>".utf8)
        let processor = FirstByteProcessor()
        let downloaded = try await downloader(ScriptedTransport(body: page)).download(
            url: url, options: .processing(processor), progress: nil, handle: DownloadTask())
        #expect(downloaded.data == page && downloaded.url == url && processor.calls.count == 0)
    }

    /// Upstream: testDownloadMultipleImages, testDownloadMultipleImagesAsync
    @Test func manyURLsAreDownloadedAtATime() async throws {
        let downloader = downloader(
            ScriptedTransport { request, exchange in
                try await exchange.answer(Data(request.url?.lastPathComponent.utf8 ?? "".utf8))
            })
        try await withThrowingTaskGroup(of: ImageLoadingResult.self) { group in
            for index in 1...4 {
                let url = try #require(URL(string: "http://a.example/\(index)"))
                group.addTask {
                    try await downloader.downloadImage(with: url, options: .processing())
                }
            }
            for try await result in group {
                #expect(result.originalData == Data(result.url?.lastPathComponent.utf8 ?? "".utf8))
            }
        }
    }

    @Test func theDownloadersLimitsReachTheProcessorUnlessTheOptionsHaveSome() async throws {
        let downloader = downloader(ScriptedTransport(body: body))
        downloader.decodingLimits = DecodingLimits(maximumPixelCount: 10)
        let seen = Recorder<DecodingLimits?>()
        let processor = ClosureProcessor { _, options in
            seen.record(options.decodingLimits)
            return nil
        }
        _ = await downloader.result(url, .processing(processor))
        let own = DecodingLimits(maximumPixelCount: 20)
        _ = await downloader.result(url, .processing(processor, [.decodingLimits(own)]))
        #expect(seen.events.map { $0?.maximumPixelCount } == [10, 20])
    }
}
