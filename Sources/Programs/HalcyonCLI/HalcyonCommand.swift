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
        let arguments = ProcessArguments.texts
        if let fault = unknownCommand(in: arguments) { exit(withError: ValidationError(fault)) }
        do {
            await main(try OptionDefaults.added(to: arguments))
        } catch {
            // A failure of standard error cannot be reported anywhere.
            try? StandardStream.error.write("halcyon: \(error.description)\n")
            // EX_CONFIG of sysexits.h.
            exit(withError: ExitCode(78))
        }
    }

    /// Says what is wrong with a word in place of a command, which the parser would call an unexpected argument.
    static func unknownCommand(in arguments: [String]) -> String? {
        var words = [configuration.commandName ?? ""]
        var commands = configuration.subcommands.map { $0.configuration }
        for word in arguments {
            if commands.isEmpty || word.hasPrefix("-") || word == "help" { return nil }
            words.append(word)
            guard let command = commands.first(where: { $0.commandName == word }) else {
                let names = commands.compactMap(\.commandName)
                let unknown = "There is no command “\(words.joined(separator: " ").printable)”"
                guard let name = word.misspelling(of: names) else {
                    return "\(unknown); there are: \(names.joined(separator: ", "))."
                }
                let meant = words.dropLast() + [name]
                return "\(unknown). Did you mean “\(meant.joined(separator: " "))”?"
            }
            commands = command.subcommands.map { $0.configuration }
        }
        return nil
    }
}

extension String {
    /// The nearest of `names`, if this is likely to be meant for it.
    func misspelling(of names: [String]) -> String? {
        let nearest = nearest(of: names)
        // Two letters that have changed places are two changes.
        return nearest.distance <= Swift.min(2, count - 1) ? nearest.text : nil
    }
}
