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
