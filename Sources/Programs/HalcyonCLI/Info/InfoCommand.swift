import ArgumentParser
import Halcyon

struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Tell size, frames, colours and more of image files, without decoding them.",
        usage: "halcyon info <source> ... [--recursive] [--json]",
        discussion: """
            Sources are http or https URLs, files, data URIs and standard input. What a camera has noted is told, but \
            never where a picture was taken, by whom, and serial numbers. Nothing is cached.

            EXAMPLES:
              halcyon info photo.jpg
              halcyon info --json *.webp | jq -r 'select(.frames > 1).source'

            JSON: one object per source and line:
            \(InfoRow.fields)
            What is not known is null; what a file does not have is left out.

            EXIT CODES: 0 all sources were read, 1 some were not, 64 bad usage, 130 stopped by Ctrl-C.
            """)

    @OptionGroup var sources: SourceArguments

    @Flag(help: "Print one JSON object per source.")
    var json = false

    @OptionGroup(title: "Defaults")
    var configuration: ConfigurationOptions

    func run() async throws {
        let (sources, json) = (try await sources.read(), json)
        try await CommandRunner.countFailures { console in
            let downloader = ImageDownloader(name: "halcyon")
            var failures = 0
            for (index, source) in sources.enumerated() {
                try Task.checkCancellation()
                let row = await InfoRow(source, downloader)
                if row.result.failure != nil { failures += 1 }
                if !json, index > 0 { console.print("") }
                console.print(json ? [row.json.jsonText] : row.lines)
            }
            return failures
        }
    }
}
