import ArgumentParser
import Halcyon

@main
struct HalcyonBenchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon-benchmarks",
        abstract: "Measures Halcyon beside other libraries, in turns, in one run.",
        subcommands: [
            RunCommand.self, OriginCommand.self, PeakCommand.self, PhotosCommand.self,
            SeriesCommand.self, CostCommand.self,
        ],
        defaultSubcommand: RunCommand.self)

    static func main() async {
        DecodingWorker.runIfAsked()
        // All rows but those of workers measure what is done in this process.
        DecodingIsolation.current = .none
        await main(nil)
    }
}
