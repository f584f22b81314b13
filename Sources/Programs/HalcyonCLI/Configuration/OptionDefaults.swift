import ArgumentParser
import Foundation
import HalcyonWork

/// Which file of defaults a command uses; the options are looked for before the command line is parsed.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: .value(
            "file",
            """
            The file of defaults for options; halcyon/config.toml in $XDG_CONFIG_HOME by default, or in \
            ~/.config without that.
            """))
    var config: String?

    @Flag(help: "Use no file of defaults.")
    var noConfig = false

    func validate() throws {
        if config != nil && noConfig {
            throw ValidationError("--config and --no-config exclude each other.")
        }
    }
}

/// The defaults of a file, as arguments before those that are given.
struct OptionDefaults {
    /// Commands and options, as the parser tells completions and manuals of them.
    private struct Command: Decodable {
        struct Option: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let kind: String
            let names: [Name]?
            let isRepeating: Bool
            let isOptional: Bool

            var longName: String? { names?.first { $0.kind == "long" }?.name }
        }
        let commandName: String
        let arguments: [Option]?
        let subcommands: [Command]?

        var options: [String: Option] {
            (arguments ?? []).reduce(into: [:]) { options, option in
                guard let name = option.longName, !Self.reserved.contains(name) else { return }
                options[name] = option
            }
        }

        private static let reserved: Set = ["help", "version", "config", "no-config"]

        var all: [Command] { [self] + (subcommands ?? []).flatMap(\.all) }

        func command(_ name: String) -> Command? {
            subcommands?.first { $0.commandName == name && name != "help" }
        }

        /// The command that the names lead to.
        func command(_ names: [String]) -> Command? {
            names.reduce(self) { $0?.command($1) }
        }
    }

    private struct Help: Decodable {
        let command: Command
    }

    private let root: Command
    /// The command that is given, by its names.
    private let names: [String]
    private let command: Command
    private let given: [String]

    /// Returns the arguments with the defaults.
    /// - Throws: `CommandFailure` that names the file and the line.
    static func added(
        to arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        let isIdle = ["--no-config", "--help", "-h", "--version"].contains(where: options.contains)
        guard !isIdle, let file = file(options, environment) else { return arguments }
        do {
            let data: Data
            do {
                data = try file.path.read(includingStreams: true)
            } catch {
                if !file.isNamed, file.path.withCString({ access($0, F_OK) }) != 0 {
                    return arguments
                }
                throw ConfigurationFault(message: error.reason)
            }
            guard let text = String(validating: data, as: UTF8.self) else {
                throw ConfigurationFault(message: "it is no UTF-8")
            }
            let entries = try ConfigurationReader.entries(in: text)
            return try OptionDefaults(arguments)?.arguments(entries) ?? arguments
        } catch let fault as ConfigurationFault {
            let line = fault.line.map { ", line \($0)" } ?? ""
            throw CommandFailure(
                description: "\(file.path.description)\(line): \(fault.message)")
        } catch {
            throw CommandFailure(description: "\(file.path.description): \(error)")
        }
    }

    private static func file(
        _ options: ArraySlice<String>, _ environment: [String: String]
    ) -> (path: FilePath, isNamed: Bool)? {
        if let index = options.lastIndex(of: "--config") {
            guard index + 1 < options.endIndex else { return nil }
            return FilePath(argument: options[index + 1]).map { ($0, true) }
        }
        if let option = options.last(where: { $0.hasPrefix("--config=") }) {
            let path = String(option.dropFirst("--config=".count))
            return FilePath(argument: path).map { ($0, true) }
        }
        // As the specification wants, a relative path does not count.
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].map { "\($0)/.config" }
        return (folder ?? home).flatMap { FilePath(argument: "\($0)/halcyon/config.toml") }
            .map { ($0, false) }
    }

    /// `nil` where no command with defaults is given.
    private init?(_ arguments: [String]) throws {
        let help = try JSONDecoder().decode(
            Help.self, from: Data(HalcyonCommand._dumpHelp().utf8))
        root = help.command
        var command = root
        var names: [String] = []
        for word in arguments {
            guard let next = command.command(word) else { break }
            command = next
            names.append(word)
        }
        guard command.arguments?.contains(where: { $0.longName == "config" }) == true else {
            return nil
        }
        self.command = command
        self.names = names
        given = Array(arguments.dropFirst(names.count))
    }

    private func arguments(_ entries: [ConfigurationEntry]) throws(ConfigurationFault) -> [String] {
        for entry in entries { try check(entry) }
        let options = command.options
        // Those of a command come before those of all.
        let mine = entries.filter { names.starts(with: $0.table) && options[$0.key] != nil }
            .filter { entry in
                !entries.contains {
                    $0.key == entry.key && names.starts(with: $0.table)
                        && $0.table.count > entry.table.count
                }
            }
        // A name that is given tells the format, too.
        let isNamed = isGiven("output") || given.contains("-o")
        let free = mine.filter { !isGiven($0.key) && !(isNamed && $0.key == "format") }
        if fault(free, given) == nil { return arguments(free, given) }
        // A value of the file is wrong, or defaults do not go with what is given, and then they do not count.
        for entry in mine {
            if let message = fault([entry]) {
                throw ConfigurationFault(line: entry.line, message: message)
            }
        }
        if let message = fault(mine) { throw ConfigurationFault(message: message) }
        var kept: [ConfigurationEntry] = []
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for entry in free where !kept.contains(entry) && fault(kept + [entry], given) == nil {
                kept.append(entry)
                isGrowing = true
            }
        }
        return arguments(kept, given)
    }

    /// - Throws: `ConfigurationFault` for an unknown table or key, and a value of another kind.
    private func check(_ entry: ConfigurationEntry) throws(ConfigurationFault) {
        func fault(_ message: String) -> ConfigurationFault {
            ConfigurationFault(line: entry.line, message: message)
        }
        guard let place = root.command(entry.table) else {
            let tables = root.subcommands?.map(\.commandName) ?? []
            let name = entry.table.joined(separator: ".")
            throw fault("there is no command for [\(name)]\(Self.nearest(name, tables))")
        }
        let options = place.all.map(\.options).reduce(into: [String: Command.Option]()) {
            $0.merge($1) { old, _ in old }
        }
        guard let option = options[entry.key] else {
            let command = (["halcyon"] + entry.table).joined(separator: " ")
            throw fault(
                "\(command) has no option “\(entry.key)”"
                    + Self.nearest(entry.key, options.keys.sorted()))
        }
        switch entry.value {
        case .truth where option.kind != "flag":
            throw fault("“\(entry.key)” needs a value, not true or false")
        case .text, .number, .texts:
            if option.kind == "flag" { throw fault("“\(entry.key)” is true or false") }
            if case .texts = entry.value, !option.isRepeating {
                throw fault("“\(entry.key)” has one value, not an array")
            }
        case .truth: break
        }
    }

    private static func nearest(_ name: String, _ names: [String]) -> String {
        let nearest = name.nearest(of: names)
        let isMisspelt = nearest.distance <= min(2, name.count - 1)
        return isMisspelt ? "; did you mean “\(nearest.text)”?" : ""
    }

    private func isGiven(_ key: String) -> Bool {
        given.prefix { $0 != "--" }.contains { $0 == "--\(key)" || $0.hasPrefix("--\(key)=") }
    }

    private func arguments(_ entries: [ConfigurationEntry], _ given: [String]) -> [String] {
        names
            + entries.flatMap { entry in
                switch entry.value {
                case .truth(let isSet): isSet ? ["--\(entry.key)"] : []
                case .text(let text), .number(let text): ["--\(entry.key)=\(text)"]
                case .texts(let texts): texts.map { "--\(entry.key)=\($0)" }
                }
            } + given
    }

    /// Says what the parser has against the defaults with these arguments.
    private func fault(_ entries: [ConfigurationEntry], _ given: [String]) -> String? {
        do {
            _ = try HalcyonCommand.parseAsRoot(arguments(entries, given))
            return nil
        } catch {
            return HalcyonCommand.message(for: error)
        }
    }

    /// Says what is wrong with the defaults themselves: no command line goes with them.
    private func fault(_ entries: [ConfigurationEntry]) -> String? {
        let places = (command.arguments ?? []).filter { $0.kind == "positional" }
        var lines = [places.filter { !$0.isOptional }, places].map { $0.map { _ in "x" } }
        if command.options["output-directory"] != nil {
            lines.append(lines[0] + ["--output-directory=x"])
        }
        var message: String?
        for line in lines {
            message = fault(entries, line)
            if message == nil { return nil }
        }
        return message
    }
}
