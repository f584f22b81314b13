import Foundation
import Halcyon
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import HalcyonGallery

/// The built program, run as a process of its own.
@Suite(.timeLimit(.minutes(10))) struct GalleryProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory(prefix: "halcyon-gallery-tests") }

    private static let pages = PageName.allCases.map(\.rawValue)
    private static let executable = BuiltProgram.file("halcyon-gallery")

    private struct Outcome {
        let exitCode: Int32?
        let text: String
        /// In bytes.
        let peakMemory: Int

        /// That it ended well, without complaints of GTK.
        func expectSuccess(_ sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(exitCode == 0, sourceLocation: sourceLocation)
            #expect(!text.contains("CRITICAL"), sourceLocation: sourceLocation)
            #expect(!text.contains("Gtk-WARNING"), sourceLocation: sourceLocation)
        }
    }

    /// Runs the program to its end.
    private func run(_ arguments: [String], hasDisplay: Bool = true) async throws -> Outcome {
        let file = folder.file(UUID().uuidString)
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = folder.url.path
        environment["GSK_RENDERER"] = "cairo"
        environment["GTK_A11Y"] = "none"
        if !hasDisplay {
            environment["DISPLAY"] = nil
            environment["WAYLAND_DISPLAY"] = nil
            environment["XDG_RUNTIME_DIR"] = folder.url.path
        }
        let process = try ChildProcess(
            executable: Self.executable.path, arguments: arguments, environment: environment,
            directory: folder.url.path, standardInput: FileHandle.nullDevice.fileDescriptor,
            standardOutput: output.fileDescriptor, standardError: output.fileDescriptor)
        let exitCode = await process.exitCode()
        if exitCode == nil { process.send(SIGTERM) }
        return Outcome(
            exitCode: exitCode, text: String(decoding: try Data(contentsOf: file), as: UTF8.self),
            peakMemory: process.peakMemory)
    }

    @Test func theHelpNamesAllPages() async throws {
        let help = try await run(["--help"], hasDisplay: false)
        #expect(help.exitCode == 0)
        for page in Self.pages { #expect(help.text.contains(page)) }
        #expect(help.text.contains("xvfb-run"))
        // The line of usage is never broken.
        let lines = help.text.split(separator: "\n").filter { !$0.hasPrefix("USAGE:") }
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [
        (["--page", "nowhere"], "four-cut"),
        (["--at", "1"], "--screenshot"),
        (["--screenshot", "a.jpg"], ".png"),
        (["--screenshot", "nowhere/a.png"], "nowhere"),
        (["--screenshot", "a.png", "--at", "-1"], "--at"),
        (["--screenshot", "a.png", "--at", "soon"], "--at"),
        (["nothing-here"], "nothing-here"),
        (["ftp://example.org/a.png"], "http"),
        (["http://"], "http://"),
        (["--zoom", "0"], "--zoom"),
        (["--unknown"], "--unknown"),
    ])
    func badUsageIsExitCode64AndNamesTheFault(arguments: [String], fault: String) async throws {
        let outcome = try await run(arguments, hasDisplay: false)
        #expect(outcome.exitCode == 64 && outcome.text.contains(fault))
    }

    @Test func withoutADisplayItSaysHowToGetOne() async throws {
        let outcome = try await run([], hasDisplay: false)
        #expect(outcome.exitCode == 69 && outcome.text.contains("xvfb-run"))
    }

    @Test(.enabled(if: TestDisplay.isAvailable)) func aFolderWithoutImagesIsAnError() async throws {
        let empty = folder.file("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        let outcome = try await run([empty.path])
        #expect(outcome.exitCode == 1 && outcome.text.contains("no image"))
    }

    @Test(.enabled(if: TestDisplay.isAvailable), arguments: pages)
    func everyPageGivesAPicture(page: String) async throws {
        let outcome = try await run(["--page", page, "--screenshot", "page.png", "--at", "0.2"])
        outcome.expectSuccess()
        let bitmap = try Image.decoding(Data(contentsOf: folder.file("page.png"))).bitmap()
        #expect(bitmap.size.width >= 800 && bitmap.size.height >= 600)
        // Nothing is left behind, apart from the picture and what the program said.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains { $0.hasPrefix("halcyon-gallery") })
    }

    /// While images are loaded and decoded, and while slow ones are waited for.
    @Test(
        .enabled(if: TestDisplay.isAvailable), arguments: 1...4,
        ["grid", "placeholders", "animated"])
    func theProgramEndsWellInTheMiddleOfLoading(round: Int, page: String) async throws {
        let outcome = try await run(["--page", page, "--screenshot", "early.png", "--at", "0"])
        outcome.expectSuccess()
    }

    @Test(.enabled(if: TestDisplay.isAvailable)) func picturesOfOnesOwnAreShown() async throws {
        let pictures = folder.file("my pictures")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        let magenta = PNGFixture.data(.solid(Pixel(255, 0, 255), width: 64, height: 64))
        try magenta.write(to: pictures.appendingPathComponent("a b%20#1.png"))
        let outcome = try await run([
            pictures.path, "--page", "four-cut", "--screenshot", "own.png", "--at", "2",
        ])
        outcome.expectSuccess()
        #expect(FileManager.default.fileExists(atPath: folder.file("own.png").path))
    }

    @Test(.enabled(if: TestDisplay.isAvailable)) func aSingleFileIsOpened() async throws {
        let blue = PNGFixture.data(.solid(.blue, width: 40, height: 40))
        let file = try folder.write(blue, to: "blue.png")
        let outcome = try await run([
            file.path, "--zoom", "8", "--screenshot", "own.png", "--at", "1",
        ])
        outcome.expectSuccess()
        let shot = try Image.decoding(Data(contentsOf: folder.file("own.png"))).bitmap()
        let middle = shot[shot.size.width / 2, shot.size.height / 2]
        #expect(middle.blue == 1 && middle.red == 0)
    }

    /// A grey JPEG file of 502 megapixels: each block is two bits, all of them 0.
    private static var largeJPEG: Data {
        let side = 22_400
        let lengths: [UInt8] = [1] + [UInt8](repeating: 0, count: 15)
        var file = Data([0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64))
        file += [0xFF, 0xC0, 0, 11, 8]
        file += [UInt8(side >> 8), UInt8(side & 255), UInt8(side >> 8), UInt8(side & 255)]
        file += [1, 1, 0x11, 0]
        for table in [0x00, 0x10] as [UInt8] { file += [0xFF, 0xC4, 0, 20, table] + lengths + [0] }
        file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        return file + Data(count: side / 8 * (side / 8) / 4) + [0xFF, 0xD9]
    }

    @Test(.enabled(if: TestDisplay.isAvailable), arguments: ["0.01", "0.3", "1"])
    func fiveHundredMegapixelsTakeLessThan300MB(zoom: String) async throws {
        let file = try folder.write(Self.largeJPEG, to: "large.jpg")
        let outcome = try await run([
            file.path, "--zoom", zoom, "--screenshot", "large.png", "--at", "5",
        ])
        outcome.expectSuccess()
        #expect(outcome.peakMemory > 0 && outcome.peakMemory < 300_000_000)
        let shot = try Image.decoding(Data(contentsOf: folder.file("large.png"))).bitmap()
        let middle = shot[shot.size.width / 2, shot.size.height / 2]
        #expect(abs(middle.red - 0.5) < 0.02)
    }
}
