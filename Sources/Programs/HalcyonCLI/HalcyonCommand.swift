import ArgumentParser
import Halcyon
import HalcyonWork

@main
struct HalcyonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon",
        abstract: "Loads, caches and processes images.",
        discussion: """
            Images come from the network, from files or from data URIs, go through a cache on disk, \
            and can be processed and written in other formats.

            Begin with `halcyon demo`, which needs no network, or load something:

              halcyon load https://example.org/bird.jpg --processor downsample:400x400 \\
                --output bird.webp
            """,
        version: Release.version,
        subcommands: [
            LoadCommand.self, InfoCommand.self, PrefetchCommand.self, DuplicatesCommand.self,
            CacheCommand.self, FormatsCommand.self, DemoCommand.self, ServeCommand.self,
            SignCommand.self,
        ])

    static func main() async {
        DecodingWorker.runIfAsked()
        StandardStream.reserveDescriptors()
        ProgramEnd.tellsOfLostOutput(of: "halcyon")
        await main(ProcessArguments.texts)
    }
}
