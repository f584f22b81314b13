import ArgumentParser
import HalcyonServer

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Prints the path of a URL with its signature.")

    @OptionGroup var settings: ConfigurationOptions

    @Option(help: "The source, such as https://example.com/a.jpg.")
    var source: String?

    @Option(help: "What is done with it, such as rs:fit:300:300/q:70.")
    var options = ""

    @Option(help: "The format, such as webp.", transform: Self.format)
    var format: OutputFormat?

    @Argument(help: "In place of --source and --options: what follows the signature in a URL.")
    var path: String?

    func validate() throws {
        if (path == nil) == (source == nil) {
            throw ValidationError("Give either PATH or --source.")
        }
    }

    func run() throws {
        try configuring {
            do {
                print(try settings.read(warn: complain).signed(path ?? url.path))
            } catch let error as PlanError {
                throw ConfigurationError(
                    "The server would refuse this path: \(error.reason) (\(error.code))")
            }
        }
    }

    private var url: ImageURL {
        let url = ImageURL(source: source ?? "", form: .plain).options(options)
        return format.map(url.format) ?? url
    }

    private static func format(_ name: String) throws -> OutputFormat {
        guard let format = OutputFormat(urlName: name) else {
            throw ValidationError("There is no format \(name).")
        }
        return format
    }
}
