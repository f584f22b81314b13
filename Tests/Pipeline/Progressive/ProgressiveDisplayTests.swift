import Foundation
import HalcyonTestKit
import HalcyonWork
import Synchronization
import Testing

@testable import Halcyon
@testable import HalcyonPixels

/// A manager's parts around a download of one progressive JPEG file, and what a view is shown of it.
private struct Viewing {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader: ImageDownloader
    let url: URL
    let shown = Recorder<Image?>()
    /// Whether each picture came on the main queue.
    let onMain = Recorder<Bool>()

    init(_ downloader: ImageDownloader, _ url: URL) throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        self.downloader = downloader
        self.url = url
    }

    init(_ transport: ScriptedTransport, time: TimeSource = .system) throws {
        try self.init(
            ImageDownloader(name: "test", transport: transport, scanTime: time),
            try #require(URL(string: "http://localhost/photo.jpg")))
    }

    /// A viewing of a response of which `send` sends the body.
    init(
        time: TimeSource = .system,
        body send: @escaping @Sendable (ScriptedExchange) async throws -> Void
    ) throws {
        let transport = ScriptedTransport { _, exchange in
            try await exchange.respond()
            try await send(exchange)
        }
        try self.init(transport, time: time)
    }

    func options(_ progressive: ImageProgressive, _ more: KingfisherOptionsInfo = [])
        -> KingfisherParsedOptionsInfo
    {
        KingfisherParsedOptionsInfo(
            [
                .downloader(downloader), .targetCache(cache), .cacheMemoryOnly,
                .progressiveJPEG(progressive),
            ] + more)
    }

    /// Loads the file as a view does.
    func load(
        _ progressive: ImageProgressive, _ more: KingfisherOptionsInfo = [],
        into recorder: Recorder<Image?>? = nil, isCurrent: (@Sendable () -> Bool)? = nil
    ) async -> Result<RetrieveImageResult, KingfisherError> {
        let recorder = recorder ?? shown
        let onMain = onMain
        let request = ImageRequest(
            source: .network(url), options: options(progressive, more), probing: .onCallingThread,
            isCurrent: isCurrent,
            progressiveConsumer: {
                onMain.record(MainQueue.isCurrent)
                recorder.record($0)
            })
        return await request.followed(by: nil).run()
    }

    func pixels() throws -> [Data] {
        try shown.events.map { try #require($0).bitmap().data }
    }
}

private let sharp = ImageProgressive(isBlur: false, isFastestScan: true, scanInterval: 0)
private let sharpEach = ImageProgressive(isBlur: false, isFastestScan: false, scanInterval: 0)

@Suite(.timeLimit(.minutes(20)))
struct ProgressiveDisplayTests {
    private let fixture: ProgressiveFixture
    private let shown = Recorder<Image?>()

    init() throws { fixture = try ProgressiveFixture() }

    @Test func hasTheDocumentedDefaults() {
        let progressive = ImageProgressive()
        #expect(progressive.isBlur && progressive.isFastestScan && progressive.scanInterval == 0)
        #expect((1...7).map { progressive.blurRadius(scans: $0) } == [10, 6, 2, 2, 2, nil, nil])
        #expect(sharp.blurRadius(scans: 2) == nil)
        #expect(KingfisherParsedOptionsInfo(nil).progressiveJPEG == nil)
        #expect(
            KingfisherParsedOptionsInfo([.progressiveJPEG(sharp)]).progressiveJPEG?.isBlur == false)
    }

    /// Defect: D-14
    @Test func showsEachScanOnceAsItArrives() async throws {
        let gates = fixture.scanEnds.dropLast().map { (end: $0, gate: Gate()) }
        let origin = try await OriginServer.start()
        var response = OriginResponse.ok(fixture.data, contentType: "image/jpeg")
        for (end, gate) in gates { response = response.with(.hold(afterBytes: end, .gate(gate))) }
        origin.route("/photo.jpg", response)
        let viewing = try Viewing(ImageDownloader.patient(), origin.url("/photo.jpg"))

        async let result = viewing.load(sharpEach)
        for (index, (_, gate)) in gates.enumerated() {
            await viewing.shown.waitFor(count: index + 1)
            #expect(viewing.shown.count == index + 1)
            #expect(try viewing.pixels().last == fixture.picture(index + 1).data)
            #expect(viewing.cache.imageCachedType(forKey: viewing.url.absoluteString) == .none)
            gate.open()
        }
        #expect(try await result.get().image.bitmap().data == decoded(fixture.data).data)
        #expect(viewing.shown.count == gates.count && viewing.onMain.events.allSatisfy { $0 })
        #expect(viewing.cache.imageCachedType(forKey: viewing.url.absoluteString) == .memory)
    }

    @Test func showsOnlyTheLatestScanByDefault() async throws {
        let viewing = try Viewing { exchange in
            // No second scan has begun.
            try exchange.send(fixture.prefix(1).dropLast(2))
            try exchange.send(fixture.prefix(4).dropFirst(fixture.scanEnds[0] - 2))
            await shown.waitFor(count: 1)
            // More bytes without a complete scan do not count.
            try exchange.send(fixture.prefix(5).dropFirst(fixture.scanEnds[3]).dropLast(9))
            try exchange.send(fixture.prefix(8).dropFirst(fixture.scanEnds[4] - 9))
            await shown.waitFor(count: 2)
            try exchange.send(fixture.data.dropFirst(fixture.scanEnds[7]))
        }
        _ = try await viewing.load(sharp, into: shown).get()
        // Another one may be shown before the download has ended.
        let pixels = try shown.events.prefix(2).map { try $0?.bitmap().data }
        #expect(pixels == [try fixture.picture(4).data, try fixture.picture(8).data])
    }

    @Test func blursUntilSixScansHaveBegun() async throws {
        let viewing = try Viewing { exchange in
            try exchange.send(fixture.data.dropLast(10))
            await shown.waitFor(count: fixture.scanCount - 1)
            try exchange.send(fixture.data.suffix(10))
        }
        let each = ImageProgressive(isBlur: true, isFastestScan: false, scanInterval: 0)
        _ = try await viewing.load(each, into: shown).get()
        let radii: [CGFloat?] = [6, 2, 2, 2] + Array(repeating: nil, count: fixture.scanCount - 5)
        for (index, (image, radius)) in zip(shown.events, radii).enumerated() {
            let picture = Image(bitmap: try fixture.picture(index + 1))
            let expected = radius.map { picture.kf.blurred(withRadius: $0) } ?? picture
            #expect(try image?.bitmap().data == expected.bitmap().data)
        }
        #expect(shown.count == radii.count)
    }

    @Test func asksWhatToDoWithEachPicture() async throws {
        let asked = Recorder<Bool>()
        let viewing = try Viewing { exchange in
            try exchange.send(fixture.data.dropLast(10))
            await asked.waitFor(count: 9)
            try exchange.send(fixture.data.suffix(10))
        }
        let other = Image(bitmap: try .gradient(5, 4))
        let progressive = ImageProgressive(isBlur: false, isFastestScan: false, scanInterval: 0)
        progressive.onImageUpdated.delegate(on: asked) {
            (asked, _) -> ImageProgressive.UpdatingStrategy in
            asked.record(MainQueue.isCurrent)
            return [.keepCurrent, .replace(other), .replace(nil), .default][(asked.count - 1) % 4]
        }
        _ = try await viewing.load(progressive, into: shown).get()
        let sizes = shown.events.map { $0?.pixelSize }
        let (small, full) = (other.pixelSize, PixelSize(width: 90, height: 70))
        #expect(sizes == [small, nil, full, small, nil, full])
        #expect(asked.events == Array(repeating: true, count: 9))
    }

    @Test func appliesTheProcessorAndTheScale() async throws {
        let viewing = try Viewing { exchange in
            try exchange.send(fixture.prefix(3))
            await shown.waitFor(count: 1)
            try exchange.send(fixture.data.dropFirst(fixture.scanEnds[2]))
        }
        let processor = DownsamplingImageProcessor(size: CGSize(width: 20, height: 20))
        let result = await viewing.load(
            ImageProgressive(), [.processor(processor), .scaleFactor(2)], into: shown)
        let final = try result.get().image
        let preview = try #require(shown.events.first ?? nil)
        #expect(preview.pixelSize == final.pixelSize && preview.scale == 2 && preview.isRendered)
    }

    /// Defect: D-14
    @Test func showsEachSharerItsOwnPicture() async throws {
        let (first, second, third) = (Recorder<Image?>(), Recorder<Image?>(), Recorder<Image?>())
        let begun = Gate()
        let transport = ScriptedTransport { _, exchange in
            try await begun.wait()
            try await exchange.respond()
            try exchange.send(fixture.prefix(4))
            await first.waitFor(count: 4)
            await second.wait { $0.last??.pixelSize == PixelSize(width: 3, height: 2) }
            try exchange.send(fixture.data.dropFirst(fixture.scanEnds[3]))
        }
        let viewing = try Viewing(transport)
        let waiting = Recorder<Void>()
        let noting = KingfisherOptionsInfoItem.onEvent { event in
            if case .waiting = event.kind { waiting.record(()) }
        }
        async let plain = viewing.load(sharpEach, [noting], into: first)
        async let processed = viewing.load(
            sharp, [noting, .processor(CountingProcessor(identifier: "test.other"))], into: second)
        // This one shares the download, and cannot be shown anything.
        async let failing = viewing.load(
            sharp, [noting, .processor(CountingProcessor(identifier: "test.none", gives: nil))],
            into: third)
        await waiting.waitFor(count: 3)
        begun.open()
        _ = try await (plain.get(), processed.get())
        #expect(await failing.errorCode == 4001)
        // Further ones may be shown before the download has ended.
        let pixels = try first.events.prefix(4).map { try $0?.bitmap().data }
        #expect(try pixels == (1...4).map { try fixture.picture($0).data })
        #expect(second.events.allSatisfy { $0?.pixelSize == PixelSize(width: 3, height: 2) })
        #expect(third.count == 0 && transport.requests.count == 1)
    }

    @Test func showsNothingOfOtherFiles() async throws {
        let baseline = try encoded(.gradient(90, 70), as: .JPEG)
        let cmyk = try ProgressiveFixture(bands: 4).data
        for data in [baseline, PNGFixture.data(.gradient(width: 64, height: 48)), cmyk] {
            let viewing = try Viewing { exchange in
                for start in stride(from: 0, to: data.count, by: 100) {
                    try exchange.send(data[start..<min(data.count, start + 100)])
                    await Task.yield()
                }
            }
            #expect(try await viewing.load(sharpEach).get().image.pixelSize.width > 0)
            #expect(viewing.shown.count == 0)
        }
    }

    @Test func showsNothingToARequestThatIsNotCurrent() async throws {
        let isCurrent = Locked(true)
        let viewing = try Viewing { exchange in
            try exchange.send(fixture.prefix(2))
            await shown.wait { $0.count == 2 }
            isCurrent.set(false)
            try exchange.send(fixture.data.dropFirst(fixture.scanEnds[1]).dropLast(5))
            await Task.yield()
            try exchange.send(fixture.data.suffix(5))
        }
        _ = try await viewing.load(sharpEach, into: shown) { isCurrent.value }.get()
        #expect(shown.count == 2)
    }

    @Test func showsNothingAfterCancellation() async throws {
        let viewing = try Viewing { exchange in
            try exchange.send(fixture.prefix(3))
            try await Gate().wait()
        }
        let request = ImageRequest(
            source: .network(viewing.url), options: viewing.options(sharp),
            probing: .onCallingThread, progressiveConsumer: { shown.record($0) })
        async let result = request.run()
        await shown.waitFor(count: 1)
        request.handle.cancel()
        #expect(await result.errorCode == 1003)
        #expect(shown.count == 1)
    }

    @Test func decodesNothingWithoutAView() async throws {
        let asked = Recorder<Bool>()
        let viewing = try Viewing { exchange in
            try exchange.send(fixture.prefix(5))
            try exchange.send(fixture.data.dropFirst(fixture.scanEnds[4]))
        }
        let progressive = ImageProgressive(isBlur: false, isFastestScan: false, scanInterval: 0)
        progressive.onImageUpdated.delegate(on: asked) {
            (asked, _) -> ImageProgressive.UpdatingStrategy in
            asked.record(true)
            return .default
        }
        let manager = KingfisherManager(downloader: viewing.downloader, cache: viewing.cache)
        let result = try await manager.retrieveImage(
            with: viewing.url, options: [.progressiveJPEG(progressive), .cacheMemoryOnly])
        #expect(try result.image.bitmap().data == decoded(fixture.data).data)
        #expect(asked.count == 0)
    }

    @Test(arguments: [true, false])
    func keepsTheIntervalBetweenUpdates(_ isFastest: Bool) async throws {
        let clock = ManualClock()
        let gate = Gate()
        let viewing = try Viewing(time: clock.time) { exchange in
            try exchange.send(fixture.prefix(1))
            try await gate.wait()
            try exchange.send(fixture.data.dropFirst(fixture.scanEnds[0]).dropLast(5))
            try await clock.sleep(for: .seconds(1000))
            try exchange.send(fixture.data.suffix(5))
        }
        let progressive = ImageProgressive(isBlur: false, isFastestScan: isFastest, scanInterval: 5)
        async let result = viewing.load(progressive)
        await viewing.shown.waitFor(count: 1)
        gate.open()
        for scan in isFastest ? [9] : Array(2...9) {
            await clock.waitForSleepers(2)
            let count = viewing.shown.count
            clock.advance(by: .seconds(4))
            #expect(viewing.shown.count == count)
            clock.advance(by: .seconds(1))
            await viewing.shown.waitFor(count: count + 1)
            #expect(try viewing.pixels().last == fixture.picture(scan).data)
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1000))
        _ = try await result.get()
        #expect(viewing.shown.count == (isFastest ? 2 : 9))
    }

    @Test func leavesErrorsToTheCompleteImage() async throws {
        let gate = Gate()
        // The tables of the third scan are no tables.
        var damaged = fixture.data
        let tables = fixture.prefix(2)
        let mark = try #require(tables.range(of: Data([0xFF, 0xC4]), options: .backwards))
            .lowerBound
        for index in (mark + 5)..<(mark + 20) { damaged[index] = 0xFF }
        let data = damaged
        let viewing = try Viewing { exchange in
            try exchange.send(data.prefix(fixture.scanEnds[0]))
            try await gate.wait()
            try exchange.send(data.dropFirst(fixture.scanEnds[0]))
        }
        async let result = viewing.load(sharpEach)
        await viewing.shown.waitFor(count: 1)
        gate.open()
        #expect(await result.errorCode == 4001)
        #expect(viewing.shown.count == 1)
    }
}
