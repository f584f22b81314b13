import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Requests in random order, of several managers at one folder, while the picture changes.
@Suite struct FreshnessScheduleTests {
    /// Gives the image as it is, under a key of its own.
    private struct Passing: ImageProcessor {
        let identifier: String

        func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
            -> KFCrossPlatformImage?
        {
            DefaultImageProcessor.default.process(item: item, options: options)
        }
    }

    /// What the server has said so far, and who is waiting for it.
    private struct Server {
        /// The picture's number, which is its width.
        var version = 1
        private var answers = 0
        /// The answer that spoke of a version last.
        private var last: [Int: Int] = [:]
        /// The requests at work: how many answers there were when each began, and the earliest answer
        /// that may come of a transfer it joined, which is never a later one.
        private var waiting: [Int: (began: Int, shared: Int)] = [:]

        mutating func answer() -> Int {
            answers += 1
            last[version] = answers
            return version
        }

        /// Begins a request. It may join the transfer of another one at work, and it may use what a
        /// transfer brought that has ended as long as another one is at work that had joined that.
        /// - Returns: The earliest answer that it may get.
        mutating func begin(_ caller: Int) -> Int {
            let earliest = waiting.values.map(\.shared).min() ?? answers
            waiting[caller] = (answers, shared: waiting.values.map(\.began).min() ?? answers)
            return earliest
        }

        /// Ends it with a version.
        /// - Returns: Whether the server has spoken of that since the answer `earliest`.
        mutating func end(_ caller: Int, with version: Int, since earliest: Int) -> Bool {
            waiting[caller] = nil
            return last[version] ?? 0 >= earliest
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func nobodyGetsAPictureThatTheServerHasNotSpokenOfSince(_ seed: UInt64) async throws {
        let first = try await FreshnessFixture()
        let second = try await FreshnessFixture(in: first.folder)
        let fixtures = [first, second, first, second]
        let server = Locked(Server())
        let url = first.origin.url("/a.png")
        // Stale at once, so that each request asks.
        first.origin.route("/a.png") { request in
            let number = server.withLock { $0.answer() }
            let tag = "\"\(number)\""
            let isKnown = request.headers["If-None-Match"] == tag
            let answer = isKnown ? OriginResponse.status(304) : .png(FreshnessFixture.png(number))
            return answer.header("ETag", tag).header("Cache-Control", "max-age=0")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, fixture) in fixtures.enumerated() {
                group.addTask {
                    var random = SeededGenerator(state: seed * 10 + UInt64(index))
                    for _ in 0..<60 {
                        let processor = Passing(
                            identifier: ["", "a", "b"].randomElement(using: &random) ?? "")
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0: fixture.cache.clearMemoryCache()
                        case 1: server.withLock { $0.version += 1 }
                        case 2: try await fixture.cache.removeImage(forKey: url.cacheKey)
                        default:
                            let earliest = server.withLock { $0.begin(index) }
                            let result = try await fixture.manager.retrieveImage(
                                with: url, options: [.processor(processor), .cacheOriginalImage])
                            let width = result.image.pixelSize.width
                            let isGood = server.withLock {
                                $0.end(index, with: width, since: earliest)
                            }
                            #expect(isGood, "\(width) \(String(describing: result.httpCacheUse))")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
