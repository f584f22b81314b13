import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// The file of defaults for options.
@Suite(.timeLimit(.minutes(20))) struct DefaultsProgramTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.folder.write(Pictures.png(), to: "a.png")
    }

    private func configure(_ text: String, at path: String = ".config/halcyon/config.toml") throws {
        try program.folder.write(Data(text.utf8), to: path)
    }

    private func format(_ path: String) throws -> ImageFormat {
        try Data(contentsOf: program.folder.file(path)).kf.imageFormat
    }

    @Test func itsValuesAreThoseOfTheOptions() async throws {
        try configure(
            """
            # For all commands.
            json = true

            [load]
            output-directory = "out"
            format = 'webp'  # not JPEG
            processor = [
              "resize:20x15",
              "bw",
            ]
            jobs = 1
            quiet = false
            """)
        let row = try await program.run("load", "a.png", code: 0).row
        #expect(row["output"] as? String == "out/a.webp" && row["width"] as? Int == 20)
        #expect(try format("out/a.webp") == .WebP)
        #expect(try await program.run("info", "a.png", code: 0).row["width"] as? Int == 40)
        #expect(try await program.run("cache", "info", code: 0).row["files"] != nil)
    }

    @Test func aTableComesBeforeTheBeginning() async throws {
        try configure("json = true\n[cache]\njson = false\n[cache.list]\njson = true\n")
        #expect(try await program.run("load", "a.png", code: 0).row["width"] as? Int == 40)
        #expect(try await !program.run("cache", "info", code: 0).output.contains("{"))
    }

    @Test func optionsThatAreGivenWin() async throws {
        try configure(
            """
            [load]
            output-directory = "out"
            format = "jpeg"
            quality = 0.4
            no-clobber = true
            processor = "resize:20x15"
            json = true
            """)
        func row(_ options: String...) async throws -> [String: Any] {
            try await program.run(["load", "a.png"] + options, code: 0).row
        }
        #expect(try await row()["output"] as? String == "out/a.jpg")
        #expect(try await row()["status"] as? String == "skipped")
        #expect(try await row("--force")["output"] as? String == "out/a.jpg")
        #expect(try await row("--format", "png")["output"] as? String == "out/a.png")
        #expect(try await row("--processor", "resize:10x8", "--force")["width"] as? Int == 10)
        let named = try await row("-o", "b.webp", "--lossless")
        #expect(named["output"] as? String == "b.webp" && named["width"] as? Int == 20)
        #expect(try format("b.webp") == .WebP)
        #expect(try await row("--in-place")["output"] as? String == "a.png")
        #expect(try format("a.png") == .PNG)
    }

    @Test func defaultsThatNeedAnOutputDoNotAskForOne() async throws {
        try configure("[load]\nformat = \"webp\"\nquality = 0.8\nforce = true\njson = true\n")
        #expect(try await program.run("load", "a.png", code: 0).row["output"] is NSNull)
        let row = try await program.run("load", "a.png", "--output-directory", "out", code: 0).row
        #expect(row["output"] as? String == "out/a.webp")
    }

    @Test func anotherFileIsUsedOrNone() async throws {
        try configure("json = true\n")
        for (side, path) in [(9, "mine.toml"), (7, "x/halcyon/config.toml")] {
            let text = "[load]\njson = true\nprocessor = \"resize:\(side)x\(side):none\"\n"
            try configure(text, at: path)
        }
        let plain = try await program.run("load", "--no-config", "a.png", code: 0)
        #expect(!plain.output.hasPrefix("{"))
        for options in [["--config", "mine.toml"], ["--config=mine.toml"]] {
            let row = try await program.run(["load", "a.png"] + options, code: 0).row
            #expect(row["width"] as? Int == 9)
        }
        let run = try program.start(
            ["load", "a.png"],
            environment: ["XDG_CONFIG_HOME": program.folder.file("x").path])
        #expect(try await run.outcome().row["width"] as? Int == 7)
    }

    @Test(arguments: [
        ("[load]\nqualty = 0.5", 2, "halcyon load has no option “qualty”; did you mean “quality”?"),
        ("distanse = 3", 1, "halcyon has no option “distanse”; did you mean “distance”?"),
        ("[info]\nquality = 0.5", 2, "halcyon info has no option “quality”"),
        ("\n[laod]\njobs = 3", 3, "there is no command for [laod]; did you mean “load”?"),
        ("[load]\njobs = \"many\"", 2, "'many' is invalid for '--jobs"),
        ("[load]\njobs = 2.5", 2, "'2.5' is invalid for '--jobs"),
        ("[load]\njobs = 0", 2, "--jobs must be from 1 to 64, not 0"),
        ("[load]\njobs = true", 2, "“jobs” needs a value, not true or false"),
        ("[load]\nforce = 1", 2, "“force” is true or false"),
        ("[load]\nformat = [\"png\"]", 2, "“format” has one value, not an array"),
        ("[load]\nformat = \"xyz\"", 2, "“xyz” is no format that can be written"),
        ("[load]\nname = \"{nam}\"", 2, "“{nam}” is unknown"),
        ("[load]\nprocessor = [\"bw\", \"nope\"]", 2, "nope"),
        ("# one\nformat = png", 2, "“png” is no text in quotes"),
        ("json = true\njson = true", 2, "“json” is there twice"),
        ("[load]\nquality = 0.5\nlossless = true", 3, "--quality and --lossless exclude"),
        ("[load]\njobs = \"\\u001b[31m\"", 2, "'\u{FFFD}[31m' is invalid"),
    ])
    func whatIsWrongIsNamedWithItsLine(text: String, line: Int?, fault: String) async throws {
        try configure(text)
        let outcome = try await program.run("load", "a.png", code: 78)
        let place = line.map { "config.toml, line \($0): " } ?? "config.toml: "
        #expect(outcome.error.contains(place) && outcome.error.contains(fault), "\(outcome.error)")
        #expect(outcome.output.isEmpty)
    }

    @Test func aFileThatIsNamedMustBeThere() async throws {
        let outcome = try await program.run("load", "a.png", "--config", "gone.toml", code: 78)
        #expect(outcome.error == "halcyon: gone.toml: No such file or directory\n")
        let empty = try await program.run("load", "a.png", "--config", "", code: 78)
        #expect(empty.error == "halcyon: --config needs the name of a file.\n")
    }

    @Test func commandsWithoutDefaultsDoNotReadIt() async throws {
        try configure("x y\n")
        try configure("{}", at: "server.json")
        _ = try await program.run("help", "load", code: 0)
        _ = try await program.run(
            "sign", "rs:fit:9:9/plain/local:///a.png", "--set", "signature.keys=aabbccdd",
            "--set", "signature.salts=aabbccdd", code: 0)
        let served = try await program.run(
            "serve", "--config", "server.json", "--check", "--unsigned", "--local-root", ".",
            "--cache-directory", "/tmp/halcyon-no-such-folder", code: 0)
        #expect(served.output == "The configuration is good.\n")
    }

    @Test func aDefaultFormatGivesWayToANameThatTellsOne() async throws {
        try configure("[load]\nformat = 'webp'\njson = true\n")
        for (options, name) in [
            (["-o=b.png"], "b.png"), (["--output=c.png"], "c.png"),
            (["--output-directory", "out", "--name", "{name}-s.png"], "out/a-s.png"),
        ] {
            _ = try await program.run(["load", "a.png"] + options, code: 0)
            #expect(try format(name) == .PNG)
        }
        _ = try await program.run("load", "a.png", "-o", "thumb", code: 0)
        #expect(try format("thumb") == .WebP)
        let row = try await program.run(
            "load", "a.png", "--output-directory", "out", "--name", "{name}.x.{ext}", code: 0
        ).row
        #expect(row["output"] as? String == "out/a.x.webp")
    }

    @Test func aDefaultForWatchedFoldersDoesNotCountForOthers() async throws {
        try configure("[load]\nwatch = true\njson = true\n")
        #expect(try await program.run("load", "a.png", code: 0).row["width"] as? Int == 40)
    }

    @Test func theTableOfACommandGoesBeforeTheBeginningWhereTheyExclude() async throws {
        try program.folder.write(Data("mine".utf8), to: "out/a.png")
        try configure(
            "force = true\noutput-directory = '~/out'\n[load]\nno-clobber = true\njson = true\n")
        let row = try await program.run("load", "a.png", code: 0).row
        #expect(row["status"] as? String == "skipped")
    }
}

struct ConfigurationReaderTests {
    private func values(_ text: String) throws -> [ConfigurationEntry.Value] {
        try ConfigurationReader.entries(in: text).map(\.value)
    }

    @Test func readsTheValuesOfTOML() throws {
        #expect(
            try values(
                #"""
                a = "x\t\"\u00e9\U0001F426" # a comment
                b = 'C:\x # no comment'
                c = 1_000
                d = -0.5e3
                e = false
                f = [ 'x', # one
                  "y", ]
                """#)
                == [
                    .text("x\t\"é🐦"), .text(#"C:\x # no comment"#), .number("1000"),
                    .number("-0.5e3"), .truth(false), .texts(["x", "y"]),
                ])
        #expect(
            try ConfigurationReader.entries(in: "\r\n[a.b]\r\nc-d=1\r\n") == [
                ConfigurationEntry(table: ["a", "b"], key: "c-d", value: .number("1"), line: 3)
            ])
    }

    @Test(arguments: [
        "a", "a =", "a = 'x", "a = 01", "a = 0x1F", "a = 1979-05-27", "a = inf", "a = 1 2", "[a",
        "[a]\n[a]", "a=1\na=2", "[[a]]", "a = \"\"\"x\"\"\"", "a = [1]", "a = ['x'", "a = \"\\q\"",
        "a.b = 1", "= 1", "a = {}", "\"a\" = 1", "a = 'x\n'",
    ])
    func refusesTheRest(text: String) {
        #expect(throws: ConfigurationFault.self) { try ConfigurationReader.entries(in: text) }
    }
}
