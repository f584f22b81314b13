import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Files of this machine that are none, or do not stay as they are. Each has an answer, and none has anybody wait.
@Suite struct LocalTroubleTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static func expect(
        _ path: String, below root: String, _ statuses: Int...,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        for followsSymlinks in [false, true] {
            let live = try await LiveServer.start {
                $0.sources.local.root = root
                $0.sources.local.followsSymlinks = followsSymlinks
            }
            for target in ["/_/plain/local:///\(path)", "/info/_/plain/local:///\(path)"] {
                let answer = try await live.ask(target)
                #expect(statuses.contains(answer.status), "\(target)", sourceLocation: location)
            }
            try await live.expectCalm()
        }
    }

    /// Nor is what the kernel links to.
    @Test(arguments: [
        ("/dev", ["null", "zero", "random", "tty", "full", "stdin", "fd/0"]),
        ("/proc/self", ["fd/0", "root/etc/passwd", "cwd/Package.swift", "exe", "task"]),
    ])
    func aDeviceIsNoSource(root: String, names: [String]) async throws {
        for name in names { try await Self.expect(name, below: root, 404) }
    }

    /// Files there have no bytes as long as nobody reads them.
    @Test(arguments: ["mem", "maps", "environ"])
    func whatTheKernelTellsOfTheProcessIsNoPicture(path: String) async throws {
        try await Self.expect(path, below: "/proc/self", 404, 422)
    }

    @Test func aPipeAndASocketAreNoSources() async throws {
        #expect(mkfifo(folder.file("pipe.png").path, 0o600) == 0)
        try await Self.expect("pipe.png", below: folder.url.path, 404)
        let live = try await LiveServer.start {
            $0.bind = [.unix(path: folder.file("socket.png").path)]
        }
        try await Self.expect("socket.png", below: folder.url.path, 404)
        await live.listening.stop()
    }

    @Test(.enabled(if: geteuid() != 0)) func aFileThatMayNotBeReadIsNoSource() async throws {
        try folder.write(Data("secret".utf8), to: "a.png")
        #expect(chmod(folder.file("a.png").path, 0) == 0)
        try await Self.expect("a.png", below: folder.url.path, 404)
    }

    /// Asks for `a.png` again and again while somebody changes it; each change is over before the next.
    private func ask(
        _ live: LiveServer, while change: @escaping @Sendable (Int) throws -> Void,
        _ check: (LiveServer.Answer) throws -> Void
    ) async throws {
        for width in 1...100 {
            async let changing: Void = change(width)
            try check(try await live.ask("/_/w:\(width)/plain/local:///a.png"))
            try await changing
        }
    }

    @Test func aFileThatIsReplacedAgainAndAgainIsOneOrTheOther() async throws {
        let colours = [Pixel(10, 200, 30), Pixel(200, 10, 30)]
        let pictures = colours.map { PNGFixture.solid($0, width: 300, height: 300) }
        try folder.write(pictures[0], to: "a.png")
        let live = try await LiveServer.start { $0.sources.local.root = folder.url.path }
        try await ask(live) { [folder] number in
            try folder.write(pictures[number % 2], to: "next")
            // At once.
            #expect(rename(folder.file("next").path, folder.file("a.png").path) == 0)
        } _: { answer in
            let color = try color(answer)
            #expect([[10, 200, 30], [200, 10, 30]].contains(color))
        }
        try folder.write(pictures[0], to: "a.png")
        #expect(try await color(live.ask("/_/plain/local:///a.png")) == [10, 200, 30])
        try FileManager.default.removeItem(at: folder.file("a.png"))
        #expect(try await live.ask("/_/plain/local:///a.png").status == 404)
    }

    @Test func aFileThatIsWrittenInPlaceIsAPictureOrRefused() async throws {
        let picture = PNGFixture.solid(Pixel(10, 200, 30), width: 300, height: 300)
        let path = folder.file("a.png").path
        try folder.write(picture, to: "a.png")
        let live = try await LiveServer.start { $0.sources.local.root = folder.url.path }
        try await ask(live) { number in
            guard number.isMultiple(of: 2) else {
                #expect(truncate(path, off_t(Int.random(in: 0...picture.count))) == 0)
                return
            }
            try picture.write(to: URL(fileURLWithPath: path))
        } _: { answer in
            #expect([200, 404, 422].contains(answer.status))
            guard answer.status == 200 else { return }
            let color = try color(answer)
            #expect(color == [10, 200, 30])
        }
        #expect(try await live.ask("/_/w:101/plain/local:///a.png").status == 200)
    }
}
