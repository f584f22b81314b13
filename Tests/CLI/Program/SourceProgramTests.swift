import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// Folders, and standard input and output.
@Suite(.timeLimit(.minutes(20))) struct SourceProgramTests {
    private let program: Program

    init() throws { program = try Program() }

    private func link(_ path: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: program.folder.file(path).path, withDestinationPath: destination)
    }

    /// The paths of all files below a folder.
    private func files(below folder: String) throws -> Set<String> {
        let names = FileManager.default.enumerator(atPath: program.folder.file(folder).path)
        return Set(
            try #require(names).compactMap { $0 as? String }.filter { $0.contains(".") })
    }

    @Test func theGoodPicturesOfAFolderAreLoadedAndTheBrokenOnesNamed() async throws {
        try program.folder.write(Pictures.png(), to: "in/a.png")
        try program.folder.write(Pictures.png(), to: "in/photo")
        try program.folder.write(Pictures.gif, to: "in/deep/er/b.gif")
        try program.folder.write(Pictures.png(), to: "in/.hidden.png")
        try program.folder.write(Data("hello\n".utf8), to: "in/notes.txt")
        try program.folder.write(Data("hello\n".utf8), to: "in/broken.png")
        try program.folder.write(Data(), to: "in/empty.jpg")
        try program.folder.write(Data("%PDF-1.4\n%%EOF\n".utf8), to: "in/paper.pdf")
        try link("in/deep/circle", to: "..")
        try link("in/linked.png", to: "a.png")
        try link("in/gone.png", to: "nowhere")
        let outcome = try await program.run("load", "--json", "-r", "in", "in/a.png", code: 1)
        let rows = try outcome.rows
        #expect(
            rows.map { $0["source"] as? String } == [
                "in/a.png", "in/broken.png", "in/empty.jpg", "in/linked.png", "in/photo",
                "in/deep/er/b.gif", "in/gone.png", "in/a.png",
            ])
        #expect(rows.map { $0.error.code } == [nil, 4001, 4001, nil, nil, nil, 5003, nil])
        let lines = try await program.run("load", "--recursive", "in", code: 1)
        #expect(lines.lines.last?.hasPrefix("4 images (") == true)
        #expect(lines.lines.last?.contains("), 3 failed, ") == true)
        #expect(lines.output.contains("in/gone.png cannot be read: No such file or directory"))
        let empty = try await program.run("load", "-r", "in/deep/er", "--allow-pdf", code: 0)
        #expect(empty.output.contains("1 image"))
    }

    @Test func theFoldersBelowAreThoseOfTheOutput() async throws {
        for path in ["in/a.png", "in/x/a.png", "in/x/y/b.png", "in/z/c.png"] {
            try program.folder.write(Pictures.png(), to: path)
        }
        _ = try await program.run(
            "load", "-r", "in/", "--output-directory", "out", "--format", "webp", code: 0)
        #expect(try files(below: "out") == ["a.webp", "x/a.webp", "x/y/b.webp", "z/c.webp"])
        _ = try await program.run(
            "load", "-r", "in/x", "in/z", "in/a.png", "--output-directory", "more", code: 0)
        // Two are called a.png, and have the folder in common.
        #expect(try files(below: "more") == ["a.png", "x/a.png", "y/b.png", "c.png"])
        // What is below the output was made before.
        for _ in 0..<2 {
            let outcome = try await program.run(
                "load", "--json", "-r", "in/x", "--output-directory", "./in/x/../x/small",
                "--no-clobber", "--format", "webp", code: 0)
            #expect(try outcome.rows.count == 2)
        }
        #expect(try files(below: "in/x/small") == ["a.webp", "y/b.webp"])
        try link("link", to: "in")
        let linked = try await program.run(
            "load", "--json", "-r", "link/x", "--output-directory", "in/x/small", "--no-clobber",
            "--format", "webp", code: 0)
        #expect(try linked.rows.count == 2)
    }

    @Test func infoTellsOfThePicturesOfAFolder() async throws {
        try program.folder.write(Pictures.png(), to: "in/a.png")
        try program.folder.write(Data("hello\n".utf8), to: "in/notes.txt")
        let outcome = try await program.run("info", "--json", "-r", "in", code: 0)
        #expect(try outcome.rows.map { $0["source"] as? String } == ["in/a.png"])
        let folder = try await program.run("info", "--json", "in", code: 1)
        #expect(
            try folder.row.error.message
                == "\(program.folder.file("in").path) is a folder, not a file; "
                + "load and info take the pictures in it with -r")
    }

    @Test(arguments: [(["--format", "webp"], ImageFormat.WebP), ([], .PNG)])
    func aPipeIsReadAndWritten(options: [String], format: ImageFormat) async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        let outcome = try await program.run(
            ["load", "-", "--processor", "resize:20x15", "--output", "-"] + options,
            script: #"cat a.png | "$0" "$@" | cat >made"#, code: 0)
        #expect(outcome.output.isEmpty && outcome.error == "[1/1] -\n")
        let data = try Data(contentsOf: program.folder.file("made"))
        #expect(data.kf.imageFormat == format)
        #expect(try Image.decoding(data).pixelSize == PixelSize(width: 20, height: 15))
    }

    @Test func standardInputIsASourceAmongOthers() async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        let script = #"exec "$0" "$@" <a.png"#
        for command in ["load", "info"] {
            let outcome = try await program.run(
                [command, "--json", "-", "a.png"], script: script, code: 0)
            let rows = try outcome.rows
            #expect(rows.map { $0["source"] as? String } == ["-", "a.png"])
            #expect(rows.map { $0["width"] as? Int } == [40, 40])
        }
        _ = try await program.run(
            ["load", "-", "--output-directory", "out"], script: script, code: 0)
        #expect(try files(below: "out") == ["stdin.png"])
        let nothing = try await program.run("load", "--json", "-", code: 1)
        #expect(try nothing.row.error.message == "The data is empty.")
        let closed = try await program.run(
            ["load", "-"], script: #"exec "$0" "$@" <&-"#, code: 64)
        #expect(closed.error.contains("standard input cannot be read"))
    }

    @Test func whatFailsIsToldBesideThePipe() async throws {
        let outcome = try await program.run("load", "none.png", "--output", "-", code: 1)
        #expect(outcome.output.isEmpty && outcome.error.contains("There is no file at"))
    }
}
