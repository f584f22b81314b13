import Foundation
import HalcyonTestKit
import Testing

/// A cache folder that an earlier version of the program has written, with an index of version 2.
@Suite(.timeLimit(.minutes(20))) struct EarlierCacheProgramTests {
    private let program: Program
    private let address = "http://127.0.0.1:18080"

    init() throws {
        program = try Program()
        let cache = program.folder.file("cache")
        try FileManager.default.copyItem(at: SampleFile.url("EarlierState/cache"), to: cache)
        try FileManager.default.moveItem(
            at: cache.appending(path: "index.sqlite"), to: cache.appending(path: ".index.sqlite"))
    }

    private func rows(_ arguments: String...) async throws -> [[String: Any]] {
        let outcome = try await program.run(arguments + ["--json", "--cache-directory", "cache"])
        #expect(outcome.exitCode == 0, "\(outcome.error)")
        return try outcome.rows
    }

    @Test func picturesAreFoundByTheirAddress() async throws {
        let found = try await rows(
            "load", "--only-from-cache", "\(address)/microaneurysms.png",
            "\(address)/kingfisher.avif")
        #expect(found.map { $0["cacheType"] as? String } == ["disk", "disk"])
        #expect(found.map { $0["width"] as? Int } == [102, 240])
        #expect(found.map { $0["bytes"] as? Int } == [4950, 8054])
    }

    @Test func processedPicturesAreFoundByTheirProcessor() async throws {
        let found = try await rows(
            "load", "--only-from-cache", "--processor", "downsample:40x40",
            "\(address)/kingfisher.avif")
        #expect(found.map { $0["cacheType"] as? String } == ["disk"])
        #expect(found.map { $0["bytes"] as? Int } == [1883])
        #expect(found.map { $0["width"] as? Int } == [40])
    }

    @Test func responsesAndFilesAreKnown() async throws {
        let responses = try await rows("cache", "responses")
        let images = Dictionary(
            uniqueKeysWithValues: responses.map {
                ($0["url"] as? String, ($0["images"] as? [String])?.count)
            })
        #expect(
            images == [
                "\(address)/microaneurysms.png": 1, "\(address)/kingfisher.avif": 2,
                "\(address)/moved.png": 0,
            ])
        #expect(Set(responses.compactMap { $0["etag"] as? String }) == ["\"one\""])
        let files = try await rows("cache", "list")
        #expect(files.count == 3)
        #expect(files.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == 14887)
        #expect(try await rows("cache", "clean").count == 1)
        #expect(try await rows("cache", "list").count == 3)
    }
}
