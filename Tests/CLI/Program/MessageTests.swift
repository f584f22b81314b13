import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// What the program says of bad input: the fault, in the words of the user.
@Suite(.timeLimit(.minutes(20))) struct MessageTests {
    private let program: Program

    init() throws { program = try Program() }

    private var folder: String { program.folder.url.path }

    private func write(_ data: Data, _ name: String) throws {
        try data.write(to: program.folder.file(name))
    }

    /// The messages and codes of a run, one for each source.
    private func failures(_ arguments: [String]) async throws -> [String] {
        let outcome = try await program.run(["load", "--json"] + arguments, code: 1)
        return try outcome.rows.map { "\($0.error.code ?? 0) \($0.error.message ?? "no error")" }
    }

    @Test func sourcesThatAreNoPictures() async throws {
        try write(Data(), "empty.jpg")
        try write(Data("hello\n".utf8), "text.png")
        try write(Data("<!DOCTYPE html><html></html>".utf8), "page.png")
        try write(Data("%PDF-1.4\n%%EOF\n".utf8), "paper.pdf")
        try write(Data([0x42, 0x4D, 0, 0]), "cut.bmp")
        try write(Data("{\"error\": 1}".utf8), "answer.json")
        try FileManager.default.createSymbolicLink(
            atPath: program.folder.file("link.png").path, withDestinationPath: "nowhere")
        #expect(mkfifo(program.folder.file("fifo.png").path, 0o600) == 0)
        let expected = [
            ("none.jpg", "5003 There is no file at \(folder)/none.jpg."),
            ("none/a.jpg", "5003 There is no file at \(folder)/none/a.jpg."),
            ("file:///none.jpg", "5003 There is no file at /none.jpg."),
            ("link.png", "5003 There is no file at \(folder)/link.png."),
            (
                "example.org/x.jpg",
                "5003 There is no file at \(folder)/example.org/x.jpg; "
                    + "for a URL write https://example.org/x.jpg"
            ),
            ("photo.jpg/x.jpg", "5003 There is no file at \(folder)/photo.jpg/x.jpg."),
            (
                "/",
                "5003 / is a folder, not a file; load and info take the pictures in it with -r"
            ),
            ("fifo.png", "5003 \(folder)/fifo.png is a FIFO, not a file."),
            (
                "text.png/a.jpg",
                "5003 There is no file at \(folder)/text.png/a.jpg: a part of the path is no folder."
            ),
            ("empty.jpg", "4001 The data is empty."),
            ("text.png", "4001 The data is not a known image: plain text."),
            ("page.png", "4001 The data is not a known image: an HTML page."),
            ("answer.json", "4001 The data is not a known image: JSON."),
            ("cut.bmp", "4001 The data is not a known image: only 4 bytes."),
            ("paper.pdf", "4001 PDF is not supported: reading PDF was not allowed."),
            (
                "ftp://host/a.png",
                "1002 ftp is not a scheme that images are loaded from; http, https, file and data are."
            ),
            ("http://", "1002 This is not a valid URL: http://"),
            ("http://a b/c", "1002 This is not a valid URL: http://a b/c"),
            ("data:image/png", "1002 The data URI has no comma before its data."),
            ("data:image/png;base64,?", "1002 The data URI's data is not Base64."),
            ("data:,%4", "4001 The data is not a known image: plain text."),
            ("", "1002 This is not a file: "),
        ]
        let messages = try await failures(["--"] + expected.map(\.0))
        for (message, expected) in zip(messages, expected) {
            #expect(message == expected.1, "\(expected.0)")
        }
        #expect(messages.count == expected.count)
    }

    /// Names of functions and modules that libraries put into their messages.
    private static let innerNames = ["vips", "_buffer", "_source", "Decoder", "load:", "::"]

    @Test func picturesThatAreCutShortAreDamaged() async throws {
        try write(Pictures.png(width: 200, height: 150), "whole.png")
        var names: [String] = []
        for format in ["png", "jpg", "webp", "tiff", "gif", "avif", "heic", "jxl"] {
            _ = try await program.run(
                "load", "whole.png", "--output", "made.\(format)", code: 0)
            let data = try Data(contentsOf: program.folder.file("made.\(format)"))
            try write(Data(data.prefix(data.count / 2)), "cut.\(format)")
            names.append("cut.\(format)")
        }
        let plain = try await failures(names)
        let processed = try await failures(names + ["--processor", "downsample:20x20"])
        for (index, message) in (plain + processed).enumerated() {
            let name = names[index % names.count]
            #expect(message.hasPrefix("4001 The "), "\(name): \(message)")
            #expect(message.contains(" data is damaged: "), "\(name): \(message)")
            for inner in Self.innerNames {
                #expect(!message.contains(inner), "\(name): \(message)")
            }
        }
    }

    /// Only librsvg 2.54 cannot take such a drawing.
    private static let killer = Data(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><style>rect:lang(x-word)\
        {fill:red}</style><g xml:lang="en"><rect width="50" height="50"/></g></svg>
        """.utf8)

    @Test(arguments: ["load", "info"])
    func aFileThatEndsItsDecoderIsNamed(command: String) async throws {
        try write(Self.killer, "killer.svg")
        let origin = try await OriginServer.start(files: ["/killer.svg": Self.killer])
        let sources = ["killer.svg", origin.url("/killer.svg").absoluteString]
        let outcome = try await program.start([command, "--json"] + sources).outcome()
        let rows = try outcome.rows
        #expect(rows.map { $0["source"] as? String } == sources)
        for (source, row) in zip(sources, rows) where row["width"] as? Int != 90 {
            let error = row["error"] as? [String: Any]
            #expect(
                error?["message"] as? String
                    == "The decoder of SVG stopped (SIGABRT) at \(source).")
        }
    }

    @Test(arguments: [["prefetch", "list.txt"], ["duplicates", "."]])
    func aFileOfManyThatEndsItsDecoderIsNamed(command: [String]) async throws {
        try write(Self.killer, "killer.svg")
        try write(Data("killer.svg\n".utf8), "list.txt")
        let outcome = try await program.run(command)
        guard outcome.exitCode != 0 else { return }
        let name = command == ["duplicates", "."] ? "./killer.svg" : "killer.svg"
        #expect(
            (outcome.output + outcome.error).contains(
                "The decoder of SVG stopped (SIGABRT) at \(name)."))
    }

    @Test func limitsAreThoseThatWereGiven() async throws {
        try write(Pictures.png(), "a.png")
        #expect(
            try await failures(["--max-pixels", "1199", "a.png"]) == [
                "4001 The image has 40×30 pixels; the limit is 1199 pixels."
            ])
        #expect(try await program.run("load", "--max-pixels", "1200", "a.png").exitCode == 0)
    }

    @Test func serversThatGiveNothing() async throws {
        let origin = try await OriginServer.start(files: ["/page.png": Data("<html>".utf8)])
        let closed = try ClosedPort()
        let missing = origin.url("/none.png?token=abc").absoluteString
        let messages = try await failures([
            missing, origin.url("/page.png").absoluteString,
            closed.url("/a.png").absoluteString, "http://nobody.invalid/a.png",
        ])
        #expect(
            messages[0] == "2002 The server answered with status 404 for "
                + missing.replacing("abc", with: "***") + ".")
        #expect(messages[1] == "4001 The data is not a known image: an HTML page.")
        #expect(messages[2].hasPrefix("2003 127.0.0.1 refused the connection"), "\(messages[2])")
        #expect(
            messages[3].hasPrefix("2003 The host nobody.invalid cannot be found"),
            "\(messages[3])")
    }

    @Test func secretsAreShownNowhere() async throws {
        let origin = try await OriginServer.start(files: [:])
        let url = origin.url("/a.png?token=abc123").absoluteString
            .replacing("http://", with: "http://anna:hunter2@")
        let outcome = try await program.run("load", url)
        for text in [outcome.output, outcome.error] {
            #expect(!text.contains("abc123") && !text.contains("hunter2"), "\(text)")
        }
        #expect(outcome.output.contains("***"))
    }

    @Test func cachesThatDoNotHaveIt() async throws {
        try write(Pictures.png(), "a.png")
        #expect(
            try await failures(["--only-from-cache", "a.png"]) == [
                "3006 The image is not in the cache."
            ])
        let path = try await program.run("cache", "path", "a.png", code: 1)
        #expect(path.error == "halcyon: a.png is not in the cache.\n")
        let wrong = try await program.run("cache", "path", "http://", code: 1)
        #expect(wrong.error == "halcyon: This is not a valid URL: http://\n")
        let file = try await program.run("load", "a.png", "--cache-directory", "a.png", code: 1)
        #expect(
            file.error.hasPrefix("halcyon: The cache folder \(folder)/a.png cannot be created"),
            "\(file.error)")
    }

    @Test(arguments: ["list", "info", "responses"])
    func aCacheFolderThatCannotBeUsedIsNamed(command: String) async throws {
        // Nobody may make files there, not even root.
        let folder = "/sys/kernel"
        let outcome = try await program.run("cache", command, "--cache-directory", folder, code: 1)
        let words = outcome.error
        #expect(words.hasPrefix("halcyon: The cache folder \(folder) cannot be used: "), "\(words)")
    }

    @Test func filesThatCannotBeCachedAreToldOfInWords() async throws {
        let origin = try await OriginServer.start(files: ["/a.png": Pictures.png()])
        let outcome = try await program.run(
            "load", origin.url("/a.png").absoluteString, "--cache-directory", "/sys/kernel",
            code: 0)
        #expect(outcome.error.contains("cannot be written to /sys/kernel/"), "\(outcome.error)")
        #expect(!outcome.error.contains("Domain"), "\(outcome.error)")
    }

    @Test func outputsThatCannotBeWritten() async throws {
        try write(Pictures.png(), "a.png")
        try FileManager.default.createDirectory(
            at: program.folder.file("folder"), withIntermediateDirectories: true)
        let outputs: [([String], String)] = [
            (["-o", "none/a.png"], "none/a.png cannot be written: No such file or directory"),
            (["-o", "/dev/full"], "/dev/full cannot be written: No space left on device"),
            (["--output-directory", "a.png"], "a.png cannot be written: it is no folder"),
        ]
        for (arguments, message) in outputs {
            #expect(try await failures(["a.png"] + arguments) == ["9002 \(message)"])
        }
    }
}
