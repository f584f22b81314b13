import Foundation
import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// Folders of caches that cannot be used, and servers that share one or are killed while they write.
@Suite struct CacheTroubleTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var caches: URL { folder.file("caches") }

    private func start() async throws -> LiveServer {
        try await LiveServer.start { $0.cache.directory = caches.path }
    }

    private static func target(_ width: Int) -> String { "/_/w:\(width)/plain/local:///china.jpg" }

    /// Asks for some pictures, and for each once more.
    private static func expectPictures(
        _ live: LiveServer, _ widths: ClosedRange<Int>,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for width in widths {
            let first = try await live.ask(target(width))
            #expect(first.status == 200, sourceLocation: location)
            #expect(try await live.ask(target(width)).body == first.body, sourceLocation: location)
        }
    }

    /// The files of the index, or all others.
    private func files(ofIndex isIndex: Bool) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: caches.path)
            .filter { ($0.contains("sqlite") || $0.contains("index")) == isIndex }
            .map { caches.appendingPathComponent($0) }
            .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
    }

    /// A file that is written meanwhile may keep the folder.
    private func removeCaches() {
        while FileManager.default.fileExists(atPath: caches.path) {
            try? FileManager.default.removeItem(at: caches)
        }
    }

    private static func errors(_ live: LiveServer) -> Int {
        live.log.events.count { $0.level == .error }
    }

    @Test func aFolderThatCannotBeMadeAnyMoreIsToldOnce() async throws {
        let live = try await start()
        removeCaches()
        try folder.write(Data("a file".utf8), to: "caches")
        try await Self.expectPictures(live, 10...14)
        // A few lines for each of the caches at most.
        #expect(Self.errors(live) <= 2)
        // Another one does not start with it.
        #expect(throws: ConfigurationError.self) {
            try ImageServer(configuration: live.server.configuration)
        }
    }

    /// A folder of another file system, which nobody may write to, as a superuser may write to all others.
    @Test(.enabled(if: geteuid() == 0)) func aFolderThatIsReadOnlyIsRefused() async throws {
        try FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
        let mount = "mount -t tmpfs -o ro none \(caches.path) && exec \"$0\" \"$@\""
        for check in [["--check"], []] {
            let ended = try await run(
                program: "/usr/bin/unshare",
                [
                    "--mount", "/bin/sh", "-c", mount, executable, "--unsigned", "--local-root",
                    try #require(LiveServer.samples), "--bind", "127.0.0.1:0", "--ops-bind", "off",
                    "--cache-directory", caches.path,
                ] + check)
            #expect(ended.code == 78)
            #expect(
                ended.errors == "halcyon-server: cache.directory: \(caches.path) cannot be "
                    + "written to: read-only file system.\n")
        }
    }

    @Test func aFolderThatIsRemovedWhileTheServerRunsIsNoTrouble() async throws {
        let live = try await start()
        try await Self.expectPictures(live, 10...12)
        removeCaches()
        try await Self.expectPictures(live, 10...15)
        #expect(Self.errors(live) <= 2)
    }

    @Test func anIndexOfGarbageIsNoTrouble() async throws {
        let first = try await start()
        try await Self.expectPictures(first, 10...12)
        await first.listening.stop()
        var spoilt = 0
        for file in try files(ofIndex: true) {
            try Data(repeating: 0xA5, count: 9999).write(to: file)
            spoilt += 1
        }
        #expect(spoilt > 0)
        let second = try await start()
        try await Self.expectPictures(second, 10...15)
        #expect(Self.errors(second) <= 2)
    }

    @Test func filesThatWereSpoiltAreNotServed() async throws {
        let first = try await start()
        let good = try await first.ask(Self.target(100)).body
        await first.listening.stop()
        var spoilt = 0
        for file in try files(ofIndex: false) {
            var bytes = try Data(contentsOf: file)
            guard bytes.count >= good.count else { continue }
            let place = bytes.count - 40
            for offset in 0..<20 { bytes[place + offset] ^= 0xFF }
            try bytes.write(to: file)
            spoilt += 1
        }
        #expect(spoilt > 0)
        let second = try await start()
        #expect(try await second.ask(Self.target(100)).body == good)
    }

    @Test func twoServersWithOneFolderAreNoTrouble() async throws {
        let one = try await start()
        let other = try await start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for live in [one, other] {
                group.addTask { try await Self.expectPictures(live, 10...30) }
            }
            try await group.waitForAll()
        }
        #expect(Self.errors(one) + Self.errors(other) == 0)
    }
}
