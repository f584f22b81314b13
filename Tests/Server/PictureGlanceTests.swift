import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonServer

/// Pictures of other servers that are sent without anything being asked of their sources.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct PictureGlanceTests {
    private let shared: SharedPictures
    private var origin: OriginServer { shared.origin }
    private var bucket: Bucket { shared.bucket }

    init() async throws { shared = try await SharedPictures() }

    private func target(_ options: String = "w:10") -> String { shared.target(options) }

    private func server(
        _ time: TimeSource = .system, _ change: LiveServer.Change = { _ in }
    ) async throws -> LiveServer {
        try await shared.server(areLarge: true, time, change)
    }

    /// One that has fetched the source, made a picture, and told of both.
    private func maker(_ time: TimeSource = .system) async throws -> LiveServer {
        let one = try await server(time)
        #expect(try color(try await one.ask(target())) == [10, 200, 30])
        await one.wait(forLeases: "published", 2)
        bucket.forgetRequests()
        return one
    }

    @Test func aServerThatKnowsNothingSendsItAfterOneQuestionAndOneRequest() async throws {
        let one = try await maker()
        let two = try await server()
        let made = try await one.ask(target())
        let found = try await two.ask(target())
        #expect(found.hasDetail("shared"))
        #expect(found.body == made.body)
        for name in ["ETag", "Cache-Control", "Content-Type"] { #expect(found[name] == made[name]) }
        #expect(bucket.requests.count == 1)
        #expect(bucket.requests.first?.hasPrefix("GET /pictures/r/") == true)
        #expect(try await two.leases("found") == 1)
        #expect(try await two.metric("halcyon_leases_total") == 1)
        // Now it is in its memory.
        #expect(try await two.ask(target()).hasDetail("memory"))
        #expect(bucket.requests.count == 1)
        #expect(origin.requestCount == 1)
    }

    @Test func thoseWhoWantItAtOnceShareOneLook() async throws {
        _ = try await maker()
        let two = try await server()
        let target = target()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await two.ask(target).status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(bucket.requests.count == 1)
        #expect(try await two.metric("halcyon_images_total") == 0)
    }

    @Test func anotherPictureOfTheSourceIsMadeOfTheBytesThatOthersHave() async throws {
        _ = try await maker()
        let two = try await server()
        #expect(try await two.ask(target()).hasDetail("shared"))
        #expect(try await color(two.ask(target("w:20"))) == [10, 200, 30])
        #expect(bucket.requests.contains { $0.hasPrefix("GET /pictures/s/") })
        #expect(origin.requestCount == 1)
    }

    @Test func aSourceWhoseTimeIsOverIsAskedForFirst() async throws {
        _ = try await maker()
        let two = try await server { $0.askAgain(after: .milliseconds(1)) }
        // Confirmed: the picture is still good.
        let same = try await two.ask(target())
        #expect(try color(same) == [10, 200, 30])
        #expect(origin.requestCount == 2)
        #expect(origin.requests.last?.headers["If-None-Match"] == "\"1\"")
        #expect(try await two.metric("halcyon_images_total") == 0)
        // Changed: it is not.
        shared.route(PNGFixture.red, tag: 2)
        let three = try await server { $0.askAgain(after: .milliseconds(1)) }
        #expect(try color(try await three.ask(target())) == [200, 10, 30])
        #expect(origin.requestCount == 3)
    }

    @Test func aPictureOfAChangedSourceTakesThePlaceOfTheOneBefore() async throws {
        _ = try await maker()
        shared.route(PNGFixture.red, tag: 2)
        let two = try await server { $0.askAgain(after: .milliseconds(1)) }
        #expect(try color(try await two.ask(target())) == [200, 10, 30])
        await two.wait(forLeases: "published", 2)
        let three = try await server()
        let found = try await three.ask(target())
        #expect(try color(found) == [200, 10, 30])
        #expect(found.hasDetail("shared"))
    }

    @Test func aDamagedObjectIsNoneAndIsReplaced() async throws {
        _ = try await maker()
        bucket.damagePictures()
        let two = try await server()
        let answer = try await two.ask(target())
        #expect(try color(answer) == [10, 200, 30])
        #expect(!answer.hasDetail("shared"))
        #expect(try await two.metric("halcyon_images_total") == 1)
        #expect(origin.requestCount == 1)
        await two.wait(forLeases: "published", 1)
        let three = try await server()
        #expect(try await three.ask(target()).hasDetail("shared"))
    }

    @Test func whatWasAskedForTwiceIsOnTheDiskAfterARestartWithWhatIsKnownOfItsSource() async throws
    {
        _ = try await maker()
        let folder = try TemporaryDirectory()
        let two = try await server { $0.cache.directory = folder.url.path }
        #expect(try await two.ask(target()).hasDetail("shared"))
        // What is asked for once is not written.
        #expect(try await two.ask(target()).hasDetail("memory"))
        await two.server.stores.sources.remote?.known.underWay.wait { $0.isEmpty }
        await two.listening.stop()
        await shared.redis.kill()
        let again = try await server { $0.cache.directory = folder.url.path }
        #expect(try await again.ask(target()).hasDetail("disk"))
        #expect(origin.requestCount == 1)
    }

    @Test func aSourceWhoseBytesAreElsewhereIsConfirmedByItsServerAndOthersHearOfIt() async throws {
        let clock = ManualClock()
        _ = try await maker(clock.time)
        let two = try await server(clock.time) { $0.askAgain(after: .seconds(60)) }
        #expect(try await two.ask(target()).hasDetail("shared"))
        #expect(origin.requestCount == 1)
        let key = RemoteSource.key(of: origin.url("/a.png"))
        #expect(two.server.stores.sources.remote?.known.inMemory(key)?.body == nil)
        clock.advance(by: .seconds(60))
        #expect(try await two.ask(target()).status == 200)
        #expect(origin.requestCount == 2)
        #expect(origin.requests.last?.headers["If-None-Match"] == "\"1\"")
        #expect(try await two.metric("halcyon_images_total") == 0)
        await two.wait(forLeases: "published", 1)
        // Of one that has not made the picture it is what others have, too.
        let three = try await server(clock.time)
        #expect(try color(try await three.ask(target("w:20"))) == [10, 200, 30])
        // Its bytes are where they were.
        #expect(origin.requestCount == 2)
        #expect(bucket.requests.contains { $0.hasPrefix("GET /pictures/s/") })
        #expect(!bucket.requests.contains { $0.hasPrefix("PUT /pictures/s/") })
    }

    @Test func theBytesOfAConfirmedSourceAreNotStoredAgain() async throws {
        let clock = ManualClock()
        let one = try await server(clock.time) { $0.askAgain(after: .seconds(60)) }
        #expect(try await one.ask(target()).status == 200)
        await one.wait(forLeases: "published", 2)
        func stored() -> Int { bucket.requests.count { $0.hasPrefix("PUT /pictures/s/") } }
        #expect(stored() == 1 && origin.requestCount == 1)
        clock.advance(by: .seconds(60))
        #expect(try await one.ask(target()).status == 200)
        #expect(origin.requestCount == 2)
        await one.wait(forLeases: "published", 3)
        #expect(stored() == 1)
    }
}

/// What is known of sources and pictures, in records.
@Suite struct SharedHeadTests {
    private var stored: StoredResponse {
        get throws {
            StoredResponse(
                url: try #require(URL(string: "https://example.com/a%20b.png?c=d")), status: 200,
                fields: ["ETag": "\"a:b\"", "X-Empty": "", "Last-Modified": "x\u{e4} y"],
                requested: Date(timeIntervalSinceReferenceDate: 1.25),
                received: Date(timeIntervalSinceReferenceDate: 800_000_000.123_456_7))
        }
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let head = SharedHead(try stored, length: 1234)
        let text = try #require(head.text)
        let read = try #require(SharedHead(text))
        #expect(read.stored == head.stored && read.length == 1234)
        let source = SharedPictureHead.Source(head: head, generation: 17)
        let picture = try #require(
            SharedPictureHead(SharedPictureHead(key: "k", source: source).text))
        #expect(picture.key == "k" && picture.source?.head.stored == head.stored)
        #expect(picture.source?.generation == 17)
        #expect(SharedPictureHead(SharedPictureHead(key: "k", source: nil).text)?.source == nil)
    }

    @Test func aFieldThatCouldBeReadAsTwoIsNotTold() throws {
        var stored = try stored
        stored.fields.append("X", "a\r\nEvil: b")
        let head = SharedHead(stored, length: 1)
        #expect(head.text == nil)
        let source = SharedPictureHead.Source(head: head, generation: 17)
        let picture = try #require(
            SharedPictureHead(SharedPictureHead(key: "k", source: source).text))
        #expect(picture.key == "k" && picture.source == nil)
    }

    @Test(arguments: [
        "", "https://example.com", "https://example.com\n200 1 2", "https://example.com\n200 1 2 x",
        "https://example.com\n200 1 2 3\nno colon",
    ])
    func whatIsNoHeadIsNone(text: String) {
        #expect(SharedHead(Data(text.utf8)) == nil)
    }

    @Test func contentOfEachKindIsReadAgain() throws {
        let head = Data("head".utf8)
        guard case .head(let read) = SharedContent(SharedContent.head(head).buffer) else {
            Issue.record("it is another kind")
            return
        }
        #expect(read == head)
    }
}
