import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// What the program makes of pictures that appear in a folder while it runs.
@Suite(.timeLimit(.minutes(20))) struct WatchProgramTests {
    private let program: Program

    init() throws { program = try Program() }

    private func write(_ path: String, width: Int = 40) throws {
        try program.folder.write(Pictures.png(width: width), to: path)
    }

    private func watch(
        _ options: String..., in folder: String = "in", format: String? = "webp"
    ) throws -> (run: Program.Run, output: ChildLines) {
        try program.follow(
            ["load", "--json", "--watch", folder] + (format.map { ["--format", $0] } ?? [])
                + (options.contains("--output-directory") ? [] : ["--output-directory", "out"])
                + options)
    }

    private func link(_ path: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: program.folder.file(path).path, withDestinationPath: destination)
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: program.folder.file(folder).path)
            .sorted()
    }

    private func width(_ path: String) throws -> Int {
        try Image.decoding(Data(contentsOf: program.folder.file(path))).pixelSize.width
    }

    private func end(_ run: Program.Run, with signal: Int32 = SIGTERM) async throws {
        run.send(signal)
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.error)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func picturesThatAreThereAndThoseThatAppearAreLoadedUntilASignal(signal: Int32) async throws {
        try write("in/a.png")
        try program.folder.write(Data("hello\n".utf8), to: "in/notes.txt")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        try write("in/.hidden.png")
        try write("in/b.png")
        await output.line(containing: "in/b.png")
        #expect(try names(in: "out") == ["a.webp", "b.webp"])
        try await end(run, with: signal)
        #expect(output.all.count == 2)
    }

    @Test func aFileIsLoadedWhenItIsClosed() async throws {
        try write("in/a.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        let picture = Pictures.png(width: 50)
        let file = program.folder.file("in/half.png")
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: picture.prefix(60))
        try write("in/mark.png")
        await output.line(containing: "in/mark.png")
        #expect(!output.all.contains { $0.contains("half.png") })
        try handle.write(contentsOf: picture.dropFirst(60))
        try handle.close()
        let row = try #require(await output.line(containing: "in/half.png"))
        #expect(row.contains(#""width":50"#))
        try await end(run)
    }

    @Test func whatIsMovedInIsLoadedWithNewFolders() async throws {
        try write("in/a.png")
        try write("new/deep/b.png")
        try write("c.png")
        let (run, output) = try watch("--recursive")
        await output.line(containing: "in/a.png")
        for (from, to) in [("new", "in/new"), ("c.png", "in/c.png")] {
            try FileManager.default.moveItem(
                at: program.folder.file(from), to: program.folder.file(to))
        }
        await output.line(containing: "in/new/deep/b.png")
        await output.line(containing: "in/c.png")
        try write("in/new/deep/d.png")
        await output.line(containing: "in/new/deep/d.png")
        #expect(try names(in: "out") == ["a.webp", "c.webp", "new"])
        #expect(try names(in: "out/new/deep") == ["b.webp", "d.webp"])
        try await end(run)
    }

    @Test func withoutRecursiveFoldersInItArePassedOver() async throws {
        try write("in/a.png")
        try write("in/deep/a.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        try write("in/deep/b.png")
        try write("in/c.png")
        await output.line(containing: "in/c.png")
        try await end(run)
        #expect(output.all.count == 2)
    }

    @Test func anOutputOfTheRunIsReplacedWhenItsSourceChangesAndNoOther() async throws {
        try write("in/a.png")
        try program.folder.write(Data("mine".utf8), to: "out/b.webp")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        try write("in/a.png", width: 50)
        await output.line(containing: #""width":50"#)
        #expect(try width("out/a.webp") == 50)
        try write("in/b.png")
        let row = try #require(await output.line(containing: "in/b.png"))
        #expect(row.contains("9002") && row.contains("--force"))
        try await end(run)
        #expect(try Data(contentsOf: program.folder.file("out/b.webp")) == Data("mine".utf8))
    }

    @Test func outputsInTheFolderAreNotSources() async throws {
        try write("in/a.png")
        let (run, output) = try watch("--recursive", "--output-directory", "in/out")
        await output.line(containing: "in/a.png")
        try write("in/b.png")
        await output.line(containing: "in/b.png")
        try write("in/c.png")
        await output.line(containing: "in/c.png")
        try await end(run)
        #expect(output.all.count == 3)
        #expect(try names(in: "in/out") == ["a.webp", "b.webp", "c.webp"])
    }

    @Test(arguments: ["real/in/small", "real"])
    func outputsAreNotSourcesWhereTheFolderIsNamedThroughALink(outputFolder: String) async throws {
        try write("real/in/in/a.png")
        try link("link", to: "real")
        let (run, output) = try watch(
            "--recursive", "--force", "--output-directory", outputFolder, in: "link/in")
        await output.line(containing: "link/in/in/a.png")
        for name in ["b.png", "c.png"] {
            try write("real/in/in/\(name)")
            await output.line(containing: "link/in/in/\(name)")
        }
        try await end(run)
        #expect(output.all.count == 3, "\(output.all)")
    }

    @Test func aMisnamedPictureHasOneOutput() async throws {
        try write("in/photo.jpg")
        let (run, output) = try watch(format: nil)
        await output.line(containing: "in/photo.jpg")
        try write("in/photo.jpg", width: 50)
        await output.line(containing: #""width":50"#)
        try await end(run)
        #expect(try names(in: "out") == ["photo.png"])
        #expect(try width("out/photo.png") == 50)
    }

    @Test func whatAnotherRunWritesIntoTheFolderIsASource() async throws {
        try write("in/a.png")
        try write("b.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        _ = try await program.run("load", "b.png", "--output-directory", "in", code: 0)
        try write("in/mark.png")
        await output.line(containing: "in/mark.png")
        try await end(run)
        #expect(try names(in: "out") == ["a.webp", "b.webp", "mark.webp"])
    }

    @Test func whatCannotBeLookedAtIsNamedOnce() async throws {
        try write("in/a.png")
        try link("in/broken.png", to: "nowhere")
        try write("new/deep/b.png")
        try link("new/deep/gone.png", to: "nowhere")
        let closed = program.folder.file("in/closed").path
        try #require(mkdir(closed, 0) == 0)
        defer { chmod(closed, 0o700) }
        let (run, output) = try watch("--recursive")
        await output.line(containing: "in/a.png")
        try FileManager.default.moveItem(
            at: program.folder.file("new"), to: program.folder.file("in/new"))
        await output.line(containing: "in/new/deep/b.png")
        try write("in/c.png")
        await output.line(containing: "in/c.png")
        try await end(run)
        let failures = output.all.filter { $0.contains("5003") }
        // Nothing is closed to the superuser.
        let closedFolders = geteuid() == 0 ? [] : ["in/closed"]
        let paths = ["in/broken.png"] + closedFolders + ["in/new/deep/gone.png"]
        #expect(failures.count == paths.count, "\(failures)")
        for path in paths {
            #expect(failures.contains { $0.contains("\(path) cannot be read: ") })
        }
    }

    @Test func aLaterPictureOfTheSameNameGetsANumber() async throws {
        try write("in/a.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        try program.folder.write(Pictures.gif, to: "in/a.gif")
        await output.line(containing: "in/a.gif")
        #expect(try names(in: "out") == ["a-2.webp", "a.webp"])
        try await end(run)
    }

    @Test func deletionsAreIgnored() async throws {
        try write("in/a.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        try FileManager.default.removeItem(at: program.folder.file("in/a.png"))
        try write("in/b.png")
        await output.line(containing: "in/b.png")
        try await end(run)
        #expect(output.all.count == 2)
        #expect(try names(in: "out") == ["a.webp", "b.webp"])
    }

    @Test func aFolderThatIsRemovedEndsTheProgramWithAnError() async throws {
        try write("in/a.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        try FileManager.default.removeItem(at: program.folder.file("in"))
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 1)
        #expect(outcome.error.contains("halcyon: in was moved or removed"))
    }

    /// The system tells nothing of these; the next file does.
    @Test(arguments: [("parent/in", "parent"), ("link", "link")])
    func aFolderThatIsNotAtItsPathAnyMoreEndsTheProgramWithAnError(
        folder: String, moved: String
    ) async throws {
        try write("parent/in/a.png")
        try link("link", to: "parent/in")
        let (run, output) = try watch(in: folder)
        await output.line(containing: "\(folder)/a.png")
        try FileManager.default.moveItem(
            at: program.folder.file(moved), to: program.folder.file("moved"))
        if moved == "link" { try link("link", to: ".") }
        try write(moved == "link" ? "parent/in/b.png" : "moved/in/b.png")
        let outcome = try await run.outcome()
        #expect(outcome.exitCode == 1)
        #expect(outcome.error.contains("halcyon: \(folder) was moved or removed"))
        #expect(output.all.count == 1)
    }

    /// The most changes that the system remembers for a program that does not look.
    private static let longestQueue =
        (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
        .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? .max

    @Test(.enabled(if: longestQueue <= 40_000))
    func noPictureIsLostWhenTheSystemForgetsChanges() async throws {
        try write("in/a.png")
        let (run, output) = try watch()
        await output.line(containing: "in/a.png")
        run.send(SIGSTOP)
        // Two changes each.
        for number in 0..<Self.longestQueue {
            try Data().write(to: program.folder.file("in/\(number).txt"))
        }
        try write("in/last.png")
        run.send(SIGCONT)
        await output.line(containing: "in/last.png")
        try await end(run)
        #expect(output.all.count == 2)
    }
}

struct FolderEventTests {
    @Test func eventsAreReadOneAfterTheOther() {
        func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        let overflow = number(.max) + number(0x4000) + number(0) + number(0)
        let closed = number(7) + number(8) + number(0) + number(8) + Array("a.png\0\0\0".utf8)
        let events = FolderEvent.all(in: (closed + overflow)[...])
        #expect(
            events == [
                FolderEvent(folder: 7, mask: 8, name: Array("a.png".utf8)),
                FolderEvent(folder: -1, mask: 0x4000, name: []),
            ])
        #expect(events[0].has(IN_CLOSE_WRITE) && events[1].has(IN_Q_OVERFLOW))
    }
}
