import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ResumptionCachingTests {
    private func parts(_ fixture: FreshnessFixture) async throws -> [String] {
        await fixture.downloader.finishWritingPartials()
        let folder = fixture.folder.file("partials")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".part") }
    }

    private func resuming(_ fixture: FreshnessFixture) -> FreshnessFixture {
        fixture.downloader.resumption = DownloadResumption(
            directory: fixture.folder.file("partials"), minimumSize: 1)
        return fixture
    }

    @Test func aConditionalRequestThatBreaksOffLeavesNoPart() async throws {
        let fixture = try await resuming(.aged())
        fixture.serve(8, tag: "\"2\"", [.ranges, .breakOff(afterBytes: 20, .close)])
        #expect(try await fixture.got() == "3 stale error")
        #expect(fixture.lastCondition == "\"1\"")
        #expect(try await parts(fixture).isEmpty)
    }

    @Test func aConditionalRequestAsksForNoRest() async throws {
        let fixture = try await resuming(.aged())
        fixture.serve(8, tag: "\"2\"", [.ranges, .breakOff(afterBytes: 20, .close)])
        #expect(await fixture.errorCode([.forceRefresh]) == 2003)
        #expect(try await parts(fixture).count == 1)
        fixture.serve(3, tag: "\"1\"", [.ranges])
        #expect(try await fixture.got() == "3 validated")
        let headers = try #require(fixture.origin.requests.last?.headers)
        #expect(headers["If-None-Match"] == "\"1\"")
        #expect(headers["Range"] == nil && headers["If-Range"] == nil)
    }

    @Test func aDownloadThatBreaksOffGoesOnAndIsStoredWhole() async throws {
        let fixture = try await resuming(FreshnessFixture())
        fixture.serve(8, tag: "\"1\"", [.ranges, .breakOff(afterBytes: 20, .close, times: 1)])
        #expect(await fixture.errorCode() == 2003)
        #expect(try await fixture.got() == "8 fetched")
        #expect(fixture.origin.requests.last?.headers["Range"] == "bytes=20-")
        let stored = try #require(
            try await fixture.cache.httpResponse(forKey: fixture.url().absoluteString))
        #expect(stored.status == 200 && stored.value(of: "Content-Range") == nil)
        #expect(stored.value(of: "Content-Length") == "\(FreshnessFixture.png(8).count)")
        #expect(try await fixture.got() == "8 fresh")
        #expect(try await fixture.got(after: 100) == "8 validated")
    }

    // MARK: Whose parts they are

    private func options(
        _ caching: HTTPCaching, _ fields: [String: String] = [:]
    ) -> KingfisherParsedOptionsInfo {
        .processing(
            FirstByteProcessor(), [.httpCaching(caching), .requestModifier(setting(fields))])
    }

    @Test(arguments: [
        (HTTPCaching.on, "private, max-age=60", false, true),
        (.shared, "private, max-age=60", false, false), (.shared, "max-age=60", false, true),
        (.on, "max-age=60", true, true), (.shared, "max-age=60", true, false),
        (.shared, "max-age=60, public", true, true),
    ])
    func inAProgramForSeveralUsersNothingIsLeftOfWhatIsForOne(
        _ caching: HTTPCaching, _ words: String, _ hasCredentials: Bool, _ isKept: Bool
    ) async throws {
        let fixture = try await ResumptionFixture()
        let response = fixture.response.cacheControl(words)
        let fields = hasCredentials ? ["Authorization": "Bearer token"] : [:]
        let result = await fixture.breakOff(after: 30, response, options(caching, fields))
        #expect(result.errorCode == 2003)
        #expect(try fixture.files().count == (isKept ? 1 : 0))
    }

    @Test(arguments: [(HTTPCaching.on, true), (.shared, false)])
    func anAnsweredChallengeMakesTheRequestOneWithCredentials(
        _ caching: HTTPCaching, _ isKept: Bool
    ) async throws {
        let fixture = try await ResumptionFixture()
        let downloader = fixture.downloader()
        let responder = KnownPassword()
        downloader.authenticationChallengeResponder = responder
        fixture.origin.route(
            fixture.path,
            fixture.response.with(
                .basicAuthentication(KnownPassword.credentials),
                .breakOff(afterBytes: 30, .close)))
        #expect(await fixture.load(downloader, options(caching)).errorCode == 2003)
        #expect(try fixture.files().count == (isKept ? 1 : 0))
        withExtendedLifetime(responder) {}
    }

    @Test func aPartBelongsToItsPartition() async throws {
        let fixture = try await ResumptionFixture()
        func options(_ partition: String?) -> KingfisherParsedOptionsInfo {
            self.options(.on.with { $0.partition = partition })
        }
        #expect(await fixture.breakOff(after: 30, nil, options("anna")).errorCode == 2003)
        fixture.origin.route(fixture.path, fixture.response)
        for partition in ["berta", nil, "anna"] {
            #expect(await fixture.load(nil, options(partition)).bytes == fixture.picture)
        }
        #expect(fixture.ranges == [nil, nil, nil, "bytes=30-"])
    }

    // MARK: The end of the process

    @Test func aDownloadWhoseProcessIsKilledGoesOn() async throws {
        // Longer than what is written at a time.
        let picture = PNGFixture.data(.noise(width: 512, height: 512))
        let sent = 600 << 10
        #expect(picture.count > sent + (100 << 10))
        let fixture = try await ResumptionFixture(picture: picture)
        // The folder has its index: a new one would first list the file without saying what it is.
        _ = await fixture.breakOff(after: 10)
        await fixture.downloader().removePartials()
        fixture.origin.forgetTraffic()
        let gate = Gate()
        fixture.origin.route(
            fixture.path, fixture.response.with(.hold(afterBytes: sent, .gate(gate))))
        let (process, lines) = try ChildLines.of { output in
            try ChildProcess(
                executable: CacheStep.executable.path,
                arguments: ["download", fixture.partials.path, fixture.url.absoluteString],
                standardInput: FileHandle.nullDevice.fileDescriptor, standardOutput: output,
                standardError: output)
        }
        #expect(await lines.line(containing: "written") != nil)
        process.send(SIGKILL)
        #expect(await process.exitCode() == 137)
        let kept = await fixture.downloader().partialsSize
        #expect((256 << 10...sent).contains(kept))
        fixture.origin.route(fixture.path, fixture.response)
        let result = try await fixture.load().get()
        #expect(result.originalData == picture)
        #expect(fixture.ranges == [nil, "bytes=\(kept)-"])
        #expect(result.metrics?.responseBodyBytesReceived == Int64(picture.count - kept))
        gate.open()
    }
}
