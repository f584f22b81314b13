import Foundation
import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// Folders of caches that cannot be used.
@Suite struct CacheTroubleTests: RunsTheServer {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var caches: URL { folder.file("caches") }

    @Test func aFolderThatCannotBeMadeAnyMoreIsToldOnce() async throws {
        let live = try await LiveServer.start { $0.cache.directory = caches.path }
        // A file that is written meanwhile may keep the folder.
        while FileManager.default.fileExists(atPath: caches.path) {
            try? FileManager.default.removeItem(at: caches)
        }
        try folder.write(Data("a file".utf8), to: "caches")
        for width in 10...14 {
            let first = try await live.ask(.china("w:\(width)"))
            #expect(first.status == 200)
            #expect(try await live.ask(.china("w:\(width)")).body == first.body)
        }
        // A few lines for each of the caches at most.
        #expect(live.log.events.count { $0.level == .error } <= 2)
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
}
