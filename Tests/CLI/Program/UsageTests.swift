import Foundation
import Halcyon
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20))) struct UsageTests {
    private let program: Program

    init() throws { program = try Program() }

    @Test func helpAndVersionSucceed() async throws {
        let help = try await program.run("--help", code: 0)
        for command in ["load", "info", "prefetch", "duplicates", "cache", "formats", "demo"] {
            #expect(help.output.contains(command))
        }
        #expect(try await program.run("--version").lines == ["0.1.0"])
    }

    @Test func theHelpOfLoadExplainsEveryProcessor() async throws {
        let help = try await program.run("load", "--help", code: 0)
        for processor in ImageProcessorSpec.reference {
            #expect(help.output.contains(processor.form))
        }
    }

    @Test func noLineOfAHelpIsTooLong() async throws {
        for command in [
            [], ["load"], ["prefetch"], ["duplicates"], ["info"], ["demo"], ["cache"],
            ["cache", "info"], ["cache", "list"], ["cache", "path"], ["cache", "clean"],
            ["cache", "clear"], ["cache", "responses"], ["cache", "invalidate"],
        ] {
            let help = try await program.run(command + ["--help"])
            #expect(help.lines.allSatisfy { $0.columns <= 80 })
        }
    }

    @Test(arguments: [
        (["load"], "source"),
        (["load", "a", "--jobs", "0"], "--jobs must be from 1 to"),
        (["load", "a", "--jobs", "-1"], "--jobs"),
        (["load", "a", "--jobs", "65"], "64"),
        (["load", "a", "--jobs", "many"], "--jobs"),
        (["load", "a", "b", "--output", "c.png"], "--output-directory"),
        (["load", "-r", "a", "--output", "b.png"], "use --output-directory for folders"),
        (["load", "-", "-"], "give - once"),
        (["load", "-", "--in-place"], "--in-place is for files; - is none."),
        (["load", "a", "--json", "--output", "-"], "--json and --output -"),
        (["load", "a", "--output", "c", "--output-directory", "d"], "not both"),
        (["load", "a", "--output", "c", "--quality", "1.1"], "--quality must be from 0 to 1"),
        (["load", "a", "--quality", "0.5"], "--output"),
        (["load", "a", "--keep-metadata"], "--output"),
        (["load", "a", "--name", "{name}"], "--name needs --output or --output-directory"),
        (["load", "a", "-o", "c.png", "--name", "{name}"], "--name needs --output-directory"),
        (["load", "a", "--output-directory", "c", "--name", "x.png"], "{name}"),
        (["load", "a", "--output-directory", "c", "--name", "{nam}"], "“{nam}” is unknown"),
        (["load", "a", "--output-directory", "c", "--name", "{name"], "“{name” is unknown"),
        (["load", "a", "--output-directory", "c", "--name", "b/{name}"], "without a folder"),
        (["load", "a", "--output-directory", "c", "--name", "{name}.xyz"], "“xyz” is no format"),
        (["load", "a", "--in-place", "--output", "c.png"], "--in-place"),
        (["load", "a", "--in-place", "--format", "png"], "--in-place and --format exclude"),
        (["load", "a", "data:,a", "--in-place"], "--in-place is for files; data:,a is none."),
        (["load", "a", "--force"], "--force needs --output"),
        (["load", "a", "--lossless"], "--lossless needs --output"),
        (["load", "a", "-o", "b.jpg", "--lossless"], "JPEG loses something; these do not: png"),
        (["load", "a", "-o", "b.webp", "--lossless", "--quality", "1"], "exclude each other"),
        (["load", "a", "--max-bytes", "9k"], "--max-bytes needs --output"),
        (["load", "a", "--target-ssim", "0.9"], "--target-ssim needs --output"),
        (["load", "a", "-o", "b.png", "--max-bytes", "9k"], "--max-bytes: PNG has no quality"),
        (["load", "a", "-o", "b.gif", "--target-ssim", "0.9"], "these have one: jpg, webp"),
        (["load", "a", "-o", "b.jpg", "--max-bytes", "9g"], "“9g” is no number of bytes"),
        (["load", "a", "-o", "b.jpg", "--max-bytes", "0"], "“0” is no number of bytes"),
        (["load", "a", "-o", "b.jpg", "--target-ssim", "2"], "--target-ssim must be from 0 to 1"),
        (
            ["load", "a", "-o", "b.jpg", "--max-bytes", "9k", "--quality", "1"],
            "--quality and --max-bytes exclude each other"
        ),
        (
            ["load", "a", "-o", "b.jxl", "--target-ssim", "0.9", "--lossless"],
            "--lossless and --target-ssim exclude each other"
        ),
        (
            ["load", "a", "-o", "b.jpg", "--max-bytes", "9k", "--target-ssim", "0.9"],
            "--max-bytes and --target-ssim exclude each other"
        ),
        (["load", "a", "--watch", "--output-directory", "b"], "--watch is for one folder"),
        (["load", ".", "..", "--watch", "--output-directory", "b"], "--watch is for one folder"),
        (["load", ".", "--watch"], "--watch needs --output-directory"),
        (["load", ".", "--watch", "--output-directory", "./"], "is the watched folder"),
        (
            ["load", ".", "--watch", "--output-directory", "b", "--trace", "t"],
            "--watch and --trace exclude each other"
        ),
        (["load", "a", "--config", "b", "--no-config"], "--config and --no-config exclude"),
        (["load", "a", "-o", "c.png", "--force", "--no-clobber"], "--no-clobber"),
        (["load", "a", "-o", "c.png", "--strip", "--keep-metadata"], "--keep-metadata"),
        (["load", "a", "--timeout", "0"], "--timeout"),
        (["load", "a", "--max-pixels", "0"], "--max-pixels"),
        (["load", "a", "--max-memory", "0"], "--max-memory"),
        (["load", "a", "--decoding-timeout", "0"], "--decoding-timeout"),
        (["load", "a", "--force-refresh", "--only-from-cache"], "--only-from-cache"),
        (["load", "a", "--no-cache", "--only-from-cache"], "--no-cache and --only-from-cache"),
        (["load", "a", "--no-cache", "--http-caching"], "--no-cache and --http-caching exclude"),
        (
            ["load", "a", "--no-cache", "--cache-directory", "c"],
            "--no-cache and --cache-directory"
        ),
        (["load", "a", "--cache-directory", ""], "cache directory"),
        (["load", "a", "--format", "xyz", "--output", "c"], "webp"),
        (["load", "a", "--output", "c.bmp"], "webp"),
        (["load", "a", "--output", "c.ico"], "“ico” is no format that can be written"),
        (["load", "a", "--output", "c.xyz"], "“xyz” is no format that can be written"),
        (["load", "a", "--output", "c.xyz"], "jxl"),
        (["load", "a", "--output", "."], ". is a folder; use --output-directory for it"),
        (["load", "a", "--output", "new/"], "new/ is a folder"),
        (["load", "a", "--processor", "resize:abc"], "resize: size"),
        (["load", "a", "--processor", "crop:0x0"], "crop: size: “0x0” is not a size"),
        (["load", "a", "--processor", "blur"], "blur: radius"),
        (["load", "a", "--processor", "nope:1"], "--processor: nope: there is no such"),
        (["load", "a", "--processor", "sharpen"], "sharpen"),
        (["load", "a", "--unknown"], "--unknown"),
        (["prefetch"], "file"),
        (["prefetch", ""], "list"),
        (["prefetch", "-", "--jobs", "0"], "--jobs"),
        (["prefetch", "-", "--jobs", "65"], "64"),
        (["prefetch", "-", "--processor", "sharpen"], "sharpen"),
        (["prefetch", "-", "--cache-directory", ""], "cache directory"),
        (["duplicates"], "folder"),
        (["duplicates", ""], "folder"),
        (["duplicates", ".", "--distance", "33"], "--distance"),
        (["duplicates", ".", "--sheet", ""], "sheet"),
        (["cache", "path", "--processor", "bw"], "source"),
        (["cache", "clean", "--size-limit", "0"], "--size-limit"),
        (["duplicates", ".", "--sheet", "."], ". is a folder"),
        (["cache", "burn"], "There is no command “halcyon cache burn”; there are: info, list"),
        (["burn"], "There is no command “halcyon burn”; there are: load, info"),
        (["laod"], "There is no command “halcyon laod”. Did you mean “halcyon load”?"),
        (["laod", "a.jpg", "b.jpg"], "Did you mean “halcyon load”?"),
        (["duplicate", "."], "Did you mean “halcyon duplicates”?"),
        (["cache", "lst", "--json"], "Did you mean “halcyon cache list”?"),
    ])
    func badUsageIsExitCode64AndNamesTheFault(arguments: [String], fault: String) async throws {
        let outcome = try await program.run(arguments, code: 64)
        #expect(outcome.error.contains(fault) && outcome.output.isEmpty)
    }

    @Test func linksNoToolkit() async throws {
        let outcome = try await program.run([], script: #"ldd "$0""#, code: 0)
        #expect(outcome.output.contains("libvips") && !outcome.output.contains("libgtk"))
    }

    /// A server and its keys belong to tests; TLS and HTTP come from the system.
    @Test(arguments: ["halcyon", "halcyon-gallery"])
    func hasNoServerOfTheTestsInIt(name: String) throws {
        let bytes = try Data(contentsOf: BuiltProgram.file(name), options: .alwaysMapped)
        for text in ["HalcyonTestKit", "NIOPosix", "BoringSSL", "AsyncHTTPClient"] {
            #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) is in \(name)")
        }
        #expect(bytes.range(of: Data("HalcyonHTTP".utf8)) != nil)
    }

    @Test func formatsAreThoseOfTheLibrary() async throws {
        let row = try await program.run("formats", "--json").row
        let formats = try #require(row["formats"] as? [[String: Any]])
        func names(_ capability: String) -> [String] {
            formats.filter { $0[capability] as? Bool == true }.compactMap {
                $0["format"] as? String
            }
        }
        #expect(names("read") == ImageFormat.readable.map(\.rawValue))
        #expect(names("write") == ImageFormat.writable.map(\.rawValue))
        #expect(names("readAnimated") == ImageFormat.playable.map(\.rawValue))
        #expect(
            Set(names("readAnimated")).isSuperset(of: ["PNG", "GIF", "WebP", "AVIF", "JPEGXL"]))
        #expect(names("writeAnimated") == ["PNG", "GIF", "WebP"])
        let versions = ["libvips", "libavif", "libjxl"].compactMap { row[$0] as? String }
        #expect(
            versions.count == 3 && versions.allSatisfy { $0.contains(/^[0-9]+\.[0-9]+\.[0-9]+/) })
        let table = try await program.run("formats", code: 0)
        #expect(table.lines.count >= formats.count + 4)
        #expect(table.output.contains("libjxl \(versions.last ?? "?")"))
    }
}
