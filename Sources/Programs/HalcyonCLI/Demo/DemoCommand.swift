import ArgumentParser
import Foundation
import Halcyon
import HalcyonSamples

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the library at work on sample pictures; needs no network.",
        discussion: """
            Starts a server on this machine, loads pictures from it, from the disk cache and from \
            memory, processes some, and draws them all on a contact sheet.
            """)

    @Option(help: .value("dir", "The folder for the contact sheet."))
    var outputDirectory = "demo-output"

    @Flag(help: "Keep the disk cache, in the folder of the contact sheet.")
    var keepCache = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    func validate() throws {
        if outputDirectory.isEmpty {
            throw ValidationError("The name of the output directory is empty.")
        }
    }

    func run() async throws {
        let output = URL(fileURLWithPath: outputDirectory, isDirectory: true)
        let keepCache = keepCache
        try await CommandRunner.run(quiet: quiet) { console in
            let samples = try SamplePictures()
            let folder =
                keepCache
                ? output.appendingPathComponent("cache")
                : FileManager.default.temporaryDirectory
                    .appendingPathComponent("halcyon-demo-\(UUID().uuidString)")
            // Losing the error is harmless: the folder is among the temporary files.
            defer { if !keepCache { try? FileManager.default.removeItem(at: folder) } }
            let demo = try Demo(samples: samples, cacheDirectory: folder, console: console)
            try await demo.run(output: output)
            if keepCache { console.print("cache: \(folder.path.printable)") }
        }
    }
}
