import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

struct ImageDownloaderHookTests {
    private let url = URL(string: "http://a.example/x.png")!
    private let body = Data([42])

    private func downloader(
        _ transport: ScriptedTransport, _ delegate: (any ImageDownloaderDelegate)? = nil
    ) -> ImageDownloader {
        let downloader = ImageDownloader(name: "test", transport: transport)
        downloader.delegate = delegate
        return downloader
    }

    /// Upstream: testDownloadWithModifyingRequest, testDownloadTaskProperty
    @Test func aModifierReplacesTheURL() async throws {
        let transport = ScriptedTransport(body: body)
        let target = URL(string: "http://b.example/z")!
        let results = Recorder<LoadingResult>()
        let task = downloader(transport)
            .download(url, .modifying(changing { $0.url = target }), into: results)
        #expect(task.isInitialized && task.sessionTask?.originalURL == target)
        #expect(try await results.waitFor(count: 1)[0].get().url == target)
        #expect(transport.requests.events.map(\.url) == [target])
    }

    /// Upstream: testDownloadWithModifyingRequestToNil, testDownloadTaskNilWithNilURL
    @Test func aModifierThatReturnsNothingIs1001() async {
        let transport = ScriptedTransport(body: body)
        let results = Recorder<LoadingResult>()
        let task = downloader(transport)
            .download(url, .modifying(AnyModifier { _ in nil }), into: results)
        #expect(await results.waitFor(count: 1).map(\.errorCode) == [1001])
        #expect(!task.isInitialized && transport.requests.count == 0)
    }

    /// Upstream: testDownloadEmptyURL
    @Test func aModifierThatRemovesTheURLIs1002WithThatRequest() async throws {
        let modifier = changing {
            $0.url = nil
            $0.setValue("mark", forHTTPHeaderField: "X-Mark")
        }
        let transport = ScriptedTransport(body: body)
        let result = await downloader(transport).result(url, .modifying(modifier))
        #expect(transport.requests.count == 0)
        guard case .failure(.requestError(reason: .invalidURL(let request))) = result else {
            throw Unexpected(result)
        }
        #expect(request.value(forHTTPHeaderField: "X-Mark") == "mark")
    }

    /// Upstream: testDownloadWithAsyncModifyingRequest
    @Test func anAsyncModifierRunsFirstAndIsToldOfTheTask() async throws {
        let transport = ScriptedTransport(body: body)
        let gate = Gate()
        let modifier = HeldModifier(gate: gate)
        let results = Recorder<LoadingResult>()
        let task = downloader(transport).downloadImage(with: url, options: .modifying(modifier)) {
            #expect(modifier.started.count == 1)
            results.record($0)
        }
        #expect(!task.isInitialized)
        gate.open()
        _ = try #require(await results.waitFor(count: 1).first).get()
        #expect(modifier.started.events.first??.sessionTask === task.sessionTask)
        #expect(task.isInitialized)
    }

    // MARK: - Redirects

    private let redirecting = ScriptedTransport { request, exchange in
        if request.url?.path == "/x.png" {
            let answer = try await exchange.respond(302, headers: ["Location": "/y.png"])
            #expect((answer == .discard) == (request.allHTTPHeaderFields?["X-Stay"] == nil))
            if answer == .receive { try exchange.send(Data([1])) }
        } else {
            try await exchange.answer(Data([2]))
        }
    }

    /// Defect: D-24
    @Test func theFirstCallersRedirectHandlerDecides() async throws {
        let calls = Recorder<String>()
        let results = Recorder<LoadingResult>()
        let gate = Gate()
        let transport = ScriptedTransport { [redirecting] request, exchange in
            try await gate.wait()
            _ = try await redirecting.perform(
                request, terms: ExchangeTerms(stall: .seconds(1)),
                onResponse: exchange.onResponse, onBody: exchange.onBody)
        }
        let downloader = downloader(transport)
        for name in ["first", "second"] {
            let handler = AnyRedirectHandler { task, response, request, reply in
                calls.record(name)
                #expect(task.originalURL?.path == "/x.png" && response.statusCode == 302)
                reply(request)
            }
            downloader.downloadImage(
                with: url, options: .processing(FirstByteProcessor(), [.redirectHandler(handler)])
            ) { results.record($0) }
        }
        gate.open()
        await results.waitFor(count: 2)
        #expect(calls.events == ["first"])
    }

    @Test func aHandlerMayTakeTheRedirectAsTheAnswer() async throws {
        var options = KingfisherParsedOptionsInfo.modifying(setting(["X-Stay": "1"]))
        options.redirectHandler = AnyRedirectHandler { _, _, _, reply in reply(nil) }
        #expect(await downloader(redirecting).result(url, options).bytes == Data([1]))
    }

    // MARK: - The delegate

    /// Upstream: testDidFinishDownloadingDelegateCalledOncePerSuccessfulDownload
    @Test func theDelegateIsToldInOrderOncePerDownload() async throws {
        let delegate = RecordingDelegate()
        let gate = Gate()
        let downloader = downloader(ScriptedTransport(body: body, after: gate), delegate)
        let events = delegate.events
        let done = Recorder<Bool>()
        for _ in 0..<2 {
            downloader.downloadImage(with: url, options: .processing()) { _ in
                events.record("completed")
                done.record(true)
            }
        }
        #expect(events.events == ["will"])
        gate.open()
        await done.waitFor(count: 2)
        #expect(
            Array(events.events.prefix(5))
                == ["will", "status 200", "response 200", "data 1", "finished"])
        #expect(
            events.events.dropFirst(5).sorted() == ["completed", "completed", "image", "image"])
    }

    /// Upstream: testDidFinishDownloadingDelegateCalledOncePerFailedDownload,
    /// testDidFinishDownloadingDelegateCalledOncePerErroredDownload
    @Test(
        arguments: [
            (404, ["will", "status 404", "finished 2002"]), (nil, ["will", "finished 2003"]),
        ] as [(Int?, [String])])
    func aFailureEndsTheDownloadOnce(status: Int?, events: [String]) async {
        let delegate = RecordingDelegate()
        let transport = ScriptedTransport { [body] _, exchange in
            guard let status else {
                throw ImageTransportError.connectionReset(url: "x", reason: "test")
            }
            try await exchange.answer(body, status: status)
        }
        let error = await downloader(transport, delegate).result(url).error
        #expect(error?.isInvalidResponseStatusCode(404) == (status == 404))
        #expect(delegate.events.events == events)
    }

    /// Upstream: testDidFinishDownloadingDelegateConsistentWhenDataModifyingFails,
    /// testDownloadedDataCouldBeModified
    @Test func aRefusedBodyIs2004AndTheEndCarriesIt() async {
        let delegate = RecordingDelegate(keepsData: false)
        let downloader = downloader(ScriptedTransport(body: body), delegate)
        #expect(await downloader.result(url).errorCode == 2004)
        #expect(delegate.events.events.suffix(2) == ["data 1", "finished 2004"])
    }

    /// Upstream: testDownloadedDataCouldBeModifiedWithTask
    @Test(arguments: [Data([7, 7]), nil])
    func theTaskVariantOfTheDataHookTakesPrecedence(data: Data?) async throws {
        let delegate = TaskDataDelegate(data: data)
        let result = await downloader(ScriptedTransport(body: body), delegate).result(url)
        #expect(result.bytes == data && result.errorCode == (data == nil ? 2004 : nil))
        #expect(delegate.sessions.events == [url])
    }

    /// Upstream: testDownloaderReceiveResponseFailure
    @Test func theDelegateMayRefuseAResponse() async {
        let delegate = RecordingDelegate(disposition: .cancel)
        let downloader = downloader(ScriptedTransport(body: body), delegate)
        #expect(await downloader.result(url).errorCode == 2006)
        #expect(delegate.events.events == ["will", "status 200", "response 200", "finished 2006"])
    }

    /// Upstream: testDownloaderReceiveResponsePass
    @Test func theDelegateSeesTheResponseAndLetsItPass() async throws {
        let delegate = RecordingDelegate()
        let transport = ScriptedTransport { [body] _, exchange in
            try await exchange.respond(headers: ["X-Test": "seen"])
            try exchange.send(body)
        }
        #expect(await downloader(transport, delegate).result(url).bytes == body)
        let response = try #require(delegate.responses.events.first as? HTTPURLResponse)
        #expect(response.statusCode == 200 && response.url == url)
        #expect(response.value(forHTTPHeaderField: "X-Test") == "seen")
    }

    @Test func everyCancelledCallerIsAnEnd() async {
        let delegate = RecordingDelegate()
        let downloader = downloader(ScriptedTransport(body: body, after: Gate()), delegate)
        for _ in 0..<2 {
            downloader.downloadImage(with: url, options: .processing(), completionHandler: { _ in })
        }
        downloader.cancelAll()
        #expect(delegate.events.events == ["will", "finished 1003", "finished 1003"])
    }
}

private final class TaskDataDelegate: ImageDownloaderDelegate {
    let sessions = Recorder<URL?>()
    private let data: Data?

    init(data: Data?) {
        self.data = data
    }

    func imageDownloader(
        _ downloader: ImageDownloader, didDownload data: Data, with task: SessionDataTask
    ) -> Data? {
        sessions.record(task.originalURL)
        return self.data
    }

    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL)
        -> Data?
    {
        Issue.record("the URL variant was called")
        return data
    }
}
