import ArgumentParser
import Foundation

/// Decodes a photograph again and again, read anew each time, and prints how many bytes of memory that
/// took at the peak: of the first ten, and of all.
struct SeriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "series", shouldDisplay: false)

    @Argument(help: "A small file, decoded beforehand so that the libraries are loaded.")
    var small: String
    @Argument(help: "The photograph.")
    var photograph: String
    @Argument(help: "The longest side of the results.")
    var side: Int
    @Argument(help: "How often.")
    var count: Int

    func run() async throws {
        consume(try await Thumbnail.make(of: Data(contentsOf: URL(filePath: small)), side: 16))
        let start = try PeakMemory.restart()
        for number in 1...count {
            let data = try Data(contentsOf: URL(filePath: photograph))
            consume(try await Thumbnail.make(of: data, side: side))
            if number == 10 { print(try PeakMemory.current() - start) }
        }
        print(try PeakMemory.current() - start)
    }
}
