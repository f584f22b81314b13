import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What servers answer to a request for the rest, and what of an answer is kept at all.
@Suite struct ResumptionAnswerTests {
    let fixture: ResumptionFixture
    private var picture: Data { fixture.picture }
    private var half: Int { picture.count / 2 }
    private let other = PNGFixture.data(.gradient(width: 9, height: 7))

    init() async throws {
        fixture = try await ResumptionFixture()
    }

    /// An answer that must not be put together with what is there, one for each way of being told: by the
    /// policy (which knows more), by the bytes and by the status.
    enum Wrong: String, CaseIterable, Sendable {
        case twoRanges, laterStart, contentCoding, moreBytes, notModified, unsatisfiable

        func answer(_ fixture: ResumptionFixture, _ half: Int) -> OriginResponse {
            let count = fixture.picture.count
            var answer = fixture.rest(after: half)
            switch self {
            case .twoRanges:
                answer.headers.add("Content-Range", "bytes \(half)-\(count - 1)/\(count)")
                return answer
            case .laterStart: return fixture.rest(after: half + 1)
            case .contentCoding: return answer.with(.encoded(.gzip))
            case .moreBytes:
                return answer.header("Content-Range", "bytes \(half)-\(count - 2)/\(count)")
                    .with(.chunked)
            case .notModified: return .status(304)
            case .unsatisfiable: return .status(416)
            }
        }
    }

    @Test(arguments: Wrong.allCases)
    func aWrongAnswerIsFollowedByACleanRequest(wrong: Wrong) async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path) { [fixture, half] request in
            request.headers["Range"] == nil ? fixture.response : wrong.answer(fixture, half)
        }
        let shown = Recorder<[Int64]>()
        let downloader = fixture.downloader()
        let result = try await downloader.downloadImage(
            with: fixture.url, options: [.processor(FirstByteProcessor())]
        ) { shown.record([$0, $1]) }
        #expect(result.originalData == picture && result.metrics?.resumedByteCount == 0)
        #expect(fixture.ranges == [nil, "bytes=\(half)-", nil])
        let clean = try #require(fixture.origin.requests(for: fixture.path).last)
        #expect(clean.headers["If-Range"] == nil)
        await downloader.finishWritingPartials()
        #expect(try fixture.files().isEmpty)
    }

    @Test func aPartThatNobodyAskedForIsAnError() async throws {
        fixture.origin.route(fixture.path, fixture.rest(after: half))
        #expect(await fixture.load().errorCode == 2002)
        // Also as the answer to the clean request.
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path, fixture.rest(after: half - 1))
        #expect(await fixture.load().errorCode == 2002)
    }

    @Test func whatHasChangedIsReceivedWhole() async throws {
        _ = await fixture.breakOff(after: half)
        let changed = OriginResponse.png(other).with(.ranges, .entityTag("\"two\""))
        // The new one breaks off, too.
        fixture.origin.route(fixture.path, changed.with(.breakOff(afterBytes: 30, .close)))
        #expect(await fixture.load().errorCode == 2003)
        fixture.origin.route(fixture.path, changed)
        #expect(await fixture.load().bytes == other)
        #expect(fixture.ranges == [nil, "bytes=\(half)-", "bytes=30-"])
        #expect(fixture.origin.requests.last?.headers["If-Range"] == "\"two\"")
    }

    @Test func whatIsGoneLeavesNothing() async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path, .status(404))
        #expect(await fixture.load().errorCode == 2002)
        #expect(try fixture.files().isEmpty)
    }

    @Test(arguments: [(.status(503), 2002), (.abort(), 2003)] as [(OriginResponse, Int)])
    func otherErrorsSayNothingOfThePart(_ answer: OriginResponse, _ code: Int) async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path, answer)
        #expect(await fixture.load().errorCode == code)
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges.last == "bytes=\(half)-")
    }

    @Test func aRedirectIsFollowedWithoutTheRangeAndThePartStays() async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(fixture.path, .redirect(to: "/elsewhere.png"))
        fixture.origin.route(
            "/elsewhere.png", OriginResponse.png(other).with(.ranges, .entityTag(fixture.tag)))
        #expect(await fixture.load().bytes == other)
        let elsewhere = try #require(fixture.origin.requests(for: "/elsewhere.png").first)
        #expect(elsewhere.headers["Range"] == nil && elsewhere.headers["If-Range"] == nil)
        #expect(await fixture.loadWhole() == picture)
        let range = "bytes=\(half)-"
        #expect(fixture.ranges == [nil, range, range])
        #expect(try fixture.files().isEmpty)
    }

    @Test func credentialsAreGivenForTheRestToo() async throws {
        _ = await fixture.breakOff(after: half)
        fixture.origin.route(
            fixture.path, fixture.response.with(.basicAuthentication(KnownPassword.credentials)))
        let downloader = fixture.downloader()
        let responder = KnownPassword()
        downloader.authenticationChallengeResponder = responder
        #expect(await fixture.load(downloader).bytes == picture)
        let range = "bytes=\(half)-"
        #expect(fixture.ranges == [nil, range, range])
        withExtendedLifetime(responder) {}
    }

    /// The first byte that is asked for.
    private static func start(of request: RecordedRequest) -> Int? {
        request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }

    @Test(arguments: [200, 206, 404, 416])
    func whatComesBetweenTwoPartsIsNoneOfThem(status: Int) async throws {
        let length = picture.count / 4 + 1
        _ = await fixture.breakOff(after: length)
        fixture.origin.route(fixture.path) { [fixture, other] request in
            let whole = OriginResponse.png(other).with(.entityTag("\"two\""))
            guard let range = request.headers["Range"] else { return whole }
            if range == "bytes=\(length)-" { return fixture.rest(after: length, length: length) }
            switch status {
            case 200: return whole
            case 206: return fixture.rest(after: length, length: length)
            default: return .status(status)
            }
        }
        let result = await fixture.load()
        let ranges = [nil, "bytes=\(length)-", "bytes=\(2 * length)-"]
        if status == 404 {
            #expect(result.errorCode == 2002 && fixture.ranges == ranges)
        } else {
            #expect(result.bytes == other && fixture.ranges == ranges + [nil])
        }
        #expect(try fixture.files().isEmpty)
    }

    @Test func anErrorThatIsTakenForAPictureIsNotAddedToOne() async throws {
        let length = picture.count / 4 + 1
        _ = await fixture.breakOff(after: length)
        fixture.origin.route(fixture.path) { [fixture] request in
            request.headers["Range"] == "bytes=\(length)-"
                ? fixture.rest(after: length, length: length)
                : OriginResponse(status: 500, body: .data(Data("*500".utf8)))
        }
        let downloader = fixture.downloader()
        let delegate = Tolerant()
        downloader.delegate = delegate
        #expect(await fixture.load(downloader).bytes == Data("*500".utf8))
        // It says nothing of the part.
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges.last == "bytes=\(length)-")
    }

    private final class Tolerant: ImageDownloaderDelegate, Sendable {
        func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool { true }
    }

    @Test func afterEightPartsTheNextDownloadGoesOn() async throws {
        let length = picture.count / 15 + 1
        fixture.origin.route(fixture.path) { [fixture] request in
            Self.start(of: request).map { fixture.rest(after: $0, length: length) }
                ?? fixture.response.with(.breakOff(afterBytes: length, .close))
        }
        #expect(await fixture.load().errorCode == 2003)
        let received = Int64(9 * length)
        let incomplete = ImageTransportError.incompleteBody(
            url: fixture.url.absoluteString, received: received, expected: Int64(picture.count))
        #expect(await fixture.load().transportError == incomplete)
        let result = try await fixture.load().get()
        #expect(result.originalData == picture && result.metrics?.resumedByteCount == received)
        let starts = stride(from: length, to: picture.count, by: length)
        #expect(fixture.ranges == [nil] + starts.map { "bytes=\($0)-" })
    }

    /// A server that changes the picture now and then, sends parts or the whole, with or without a
    /// length, breaks off anywhere, and answers wrongly.
    @Test(arguments: 0..<20)
    func whateverTheServerDoesAPictureIsWhole(seed: UInt64) async throws {
        let pictures = [picture, other]
        let random = Locked(SeededGenerator(state: seed))
        fixture.origin.route(fixture.path) { request in
            random.withLock { random in
                let version = Int.random(in: 0..<6, using: &random) == 0 ? 1 : 0
                let picture = pictures[version]
                let whole = OriginResponse.png(picture).with(.entityTag("\"\(version)\""))
                var answer = whole
                if let start = Self.start(of: request), start < picture.count,
                    request.headers["If-Range"] == "\"\(version)\"",
                    Int.random(in: 0..<8, using: &random) > 0
                {
                    let wrong = Int.random(in: 0..<8, using: &random) == 0
                    let first = wrong ? Int.random(in: 0..<picture.count, using: &random) : start
                    let part = picture[first...].prefix(Int.random(in: 20...400, using: &random))
                    answer = OriginResponse(
                        status: 206,
                        headers: [
                            "Content-Type": "image/png", "ETag": "\"\(version)\"",
                            "Content-Range":
                                "bytes \(first)-\(first + part.count - 1)/\(picture.count)",
                        ], body: .data(Data(part)))
                }
                if Bool.random(using: &random) { answer = answer.with(.chunked) }
                if Bool.random(using: &random) {
                    let place = Int.random(in: 0..<picture.count, using: &random)
                    answer = answer.with(.breakOff(afterBytes: place, .close))
                }
                return answer
            }
        }
        var downloader = fixture.downloader()
        var successes = 0
        for _ in 0..<40 {
            if random.withLock({ Bool.random(using: &$0) }) { downloader = fixture.downloader() }
            if let bytes = await fixture.load(downloader).bytes {
                #expect(pictures.contains(bytes))
                successes += 1
            }
        }
        #expect(successes > 0 && fixture.ranges.contains { $0 != nil })
    }

    @Test func aTotalThatIsNotKnownIsToldWithTheRest() async throws {
        _ = await fixture.breakOff(after: half, fixture.response.with(.chunked))
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges == [nil, "bytes=\(half)-"])
    }

    // MARK: What is kept

    /// What forbids to keep anything, of which the policy knows more.
    enum Unkept: String, CaseIterable, Sendable {
        case noValidator, contentCoding, noStore, post, body
    }

    @Test(arguments: Unkept.allCases)
    func nothingIsKept(of case: Unkept) async throws {
        var response = fixture.response
        var modifier = setting([:])
        switch `case` {
        case .noValidator: response = .png(picture)
        case .contentCoding: response = response.with(.encoded(.gzip))
        case .noStore: response = response.cacheControl("no-store")
        case .post: modifier = changing { $0.httpMethod = "POST" }
        case .body: modifier = changing { $0.httpBody = Data([1]) }
        }
        let result = await fixture.breakOff(after: half, response, .modifying(modifier))
        #expect(result.errorCode == 2003)
        #expect(try fixture.files().isEmpty)
    }

    @Test func lessThanTheMinimumIsNotKept() async throws {
        let downloader = fixture.downloader()
        downloader.resumption?.minimumSize = half + 1
        fixture.origin.route(
            fixture.path,
            sequence: [half, half + 1].map {
                fixture.response.with(.breakOff(afterBytes: $0, .close))
            })
        #expect(await fixture.load(downloader).errorCode == 2003)
        #expect(try fixture.files().isEmpty)
        #expect(await fixture.load(downloader).errorCode == 2003)
        #expect(try fixture.files().count == 1)
    }

    @Test func whatIsTooLargeIsNotKept() async throws {
        let downloader = fixture.downloader()
        downloader.maximumResponseSize = half
        fixture.origin.route(fixture.path, fixture.response.with(.chunked))
        let tooLarge = ImageTransportError.responseTooLarge(
            url: fixture.url.absoluteString, limit: half)
        #expect(await fixture.load(downloader).transportError == tooLarge)
        #expect(try fixture.files().isEmpty)
        // The limit holds for the whole, not for the rest.
        _ = await fixture.breakOff(after: half - 1, fixture.response.with(.chunked))
        fixture.origin.route(fixture.path, fixture.response)
        #expect(await fixture.load(downloader).transportError == tooLarge)
        #expect(try fixture.files().isEmpty)
    }

    @Test func anExpiredPartIsNotUsed() async throws {
        _ = await fixture.breakOff(after: half)
        let downloader = fixture.downloader()
        // Of a part that is continued later, the expiration counts that held when it was written.
        downloader.resumption?.expiration = .seconds(-1)
        fixture.origin.route(fixture.path, fixture.response.with(.breakOff(afterBytes: 10, .close)))
        #expect(await fixture.load(downloader).errorCode == 2003)
        #expect(await fixture.loadWhole() == picture)
        #expect(fixture.ranges == [nil, "bytes=\(half)-", nil])
    }
}
