import ArgumentParser
import Foundation

/// Decodes one photograph and prints how many bytes of memory that took at its peak: run in a fresh
/// process for each sample.
struct PeakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peak", shouldDisplay: false)

    @Argument(help: "A small file, decoded beforehand so that the libraries are loaded.")
    var small: String
    @Argument(help: "The photograph.")
    var photograph: String
    @Argument(help: "The longest side of the result.")
    var side: Int

    func run() async throws {
        let small = try Data(contentsOf: URL(filePath: small))
        let photograph = try Data(contentsOf: URL(filePath: photograph))
        consume(try await Thumbnail.make(of: small, side: 16))

        let start = try PeakMemory.restart()
        let image = try await Thumbnail.make(of: photograph, side: side)
        print(try PeakMemory.current() - start)
        withExtendedLifetime(image) {}
    }
}
