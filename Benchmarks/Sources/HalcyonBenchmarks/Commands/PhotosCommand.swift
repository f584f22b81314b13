import ArgumentParser
import Foundation

/// Loads photos once and prints how many bytes of memory were resident at the peak: run in a fresh
/// process for each sample.
struct PhotosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "photos", shouldDisplay: false)

    @Argument(help: "A URL; numbers are added to its path.")
    var url: String
    @Argument(help: "An empty folder for the cache.")
    var folder: String

    func run() async throws {
        let urls = (0..<PhotoRun.count).compactMap { URL(string: "\(url)/\($0)") }
        try await PhotoRun(folder: URL(filePath: folder)).load(urls)
        print(try PeakMemory.current())
    }
}
