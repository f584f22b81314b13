import Foundation
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// JPEG files without an end, where they are accepted.
@Suite struct TruncatedSourceTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ name: String, _ share: Double) throws -> Data {
        let data = try LiveServer.sample(name)
        let part = data.prefix(Int(Double(data.count) * share))
        try folder.write(part, to: "a.jpg")
        return part
    }

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start {
            $0.sources.local.root = folder.url.path
            $0.processing.truncated = .accept
            try change(&$0)
        }
    }

    @Test(arguments: ["china.jpg", "astronaut-progressive.jpg"], [0.3, 0.5, 0.99])
    func whatIsThereIsShown(name: String, share: Double) async throws {
        _ = try file(name, share)
        let live = try await start()
        for target in ["/_/w:100/plain/local:///a.jpg@png", "/_/plain/local:///a.jpg@png"] {
            let answer = try await live.ask(target)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["X-Truncated"] == "1")
            let again = try await live.ask(target)
            #expect(again["X-Truncated"] == "1")
            #expect(again.hasDetail("memory"))
        }
    }

    @Test func whatIsMissingIsGrey() async throws {
        _ = try file("china.jpg", 0.5)
        let live = try await start()
        let answer = try await live.ask("/_/plain/local:///a.jpg@png")
        let bitmap = try Image.decoding(answer.body).bitmap()
        #expect(bitmap.size == PixelSize(width: 640, height: 427))
        bitmap.withUnsafeBytes { bytes in
            let row = bitmap.size.width * bitmap.channels
            let last = bytes.suffix(row)
            #expect(Set(last).count == 1 && (100...156).contains(last.first ?? 0))
            #expect(Set(bytes.prefix(row)).count > 10)
        }
    }

    @Test func itIsNeverOnTheDisk() async throws {
        _ = try file("china.jpg", 0.5)
        let caches = try TemporaryDirectory()
        for _ in 0..<2 {
            let live = try await start { $0.cache.directory = caches.url.path }
            let answer = try await live.ask("/_/w:100/plain/local:///a.jpg")
            #expect(answer["X-Truncated"] == "1")
            #expect(answer["Cache-Status"]?.contains("fwd=uri-miss") == true)
            await live.listening.stop()
            #expect(await live.server.stores.results.diskUsage().entries == 0)
        }
    }

    @Test func wholeFilesAndOtherDamageAreAsBefore() async throws {
        _ = try file("china.jpg", 1)
        let live = try await start()
        let whole = try await live.ask("/_/w:100/plain/local:///a.jpg")
        #expect(whole.status == 200 && whole["X-Truncated"] == nil)
        try folder.write(Data([0xFF, 0xD8, 0xFF]), to: "b.jpg")
        try folder.write(Data([0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 1]), to: "c.jpg")
        for name in ["b.jpg", "c.jpg"] {
            #expect(try await live.ask("/_/plain/local:///\(name)").status == 422)
        }
        let strict = try await start { $0.processing.truncated = .refuse }
        _ = try file("china.jpg", 0.5)
        #expect(try await strict.ask("/_/plain/local:///a.jpg").status == 422)
    }

    @Test func onlyWhatHasNoEndIsGivenOne() throws {
        let whole = try file("china.jpg", 1)
        #expect(TruncatedJPEG.completed(whole) == nil)
        #expect(TruncatedJPEG.completed(whole + Data([0, 0])) == nil)
        #expect(TruncatedJPEG.completed(whole.dropLast(2)) == whole)
        #expect(TruncatedJPEG.completed(whole.dropLast(1)) == whole)
        // Before its pixels begin, there is no picture.
        #expect(TruncatedJPEG.completed(whole.prefix(100)) == nil)
        #expect(TruncatedJPEG.completed(Data()) == nil)
    }
}
