import ArgumentParser
import Foundation

/// Decodes the photographs of a folder, one after another, and prints how many bytes of memory that took
/// at the peak: of the first ten, and of all.
struct SeriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "series", shouldDisplay: false)

    @Argument(help: "A small file, decoded beforehand so that the libraries are loaded.")
    var small: String
    @Argument(help: "The folder of the photographs.")
    var folder: String
    @Argument(help: "The longest side of the results.")
    var side: Int

    func run() async throws {
        consume(try await Thumbnail.make(of: Data(contentsOf: URL(filePath: small)), side: 16))
        let photographs = try FileManager.default.contentsOfDirectory(
            at: URL(filePath: folder), includingPropertiesForKeys: nil)
        let start = try PeakMemory.restart()
        for (index, photograph) in photographs.enumerated() {
            let data = try Data(contentsOf: photograph)
            consume(try await Thumbnail.make(of: data, side: side))
            if index == 9 { print(try PeakMemory.current() - start) }
        }
        print(try PeakMemory.current() - start)
    }
}
