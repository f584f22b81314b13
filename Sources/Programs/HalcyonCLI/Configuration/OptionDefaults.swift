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
    private let home: String?

    /// Returns the arguments with the defaults.
    /// - Throws: `CommandFailure` that names the file and the line.
    static func added(
        to arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        let isIdle = ["--no-config", "--help", "-h", "--version"].contains(where: options.contains)
        let name = value(of: ["--config"], in: options)
        let path = name == nil ? usualFile(environment) : name.flatMap(FilePath.init(argument:))
        // Most people have no such file, and then nothing is asked of the parser.
        guard !isIdle, name != nil || path?.withCString({ access($0, F_OK) }) == 0,
            let defaults = OptionDefaults(arguments, home: environment["HOME"])
        else { return arguments }
        guard let path else {
            throw CommandFailure(description: "--config needs the name of a file.")
        }
        do {
            let data: Data
            do {
                data = try path.read(includingStreams: true)
            } catch {
                throw ConfigurationFault(message: error.reason)
            }
            guard let text = String(validating: data, as: UTF8.self) else {
                throw ConfigurationFault(message: "it is no UTF-8")
            }
            let entries = try ConfigurationReader.entries(in: text)
            return try defaults.arguments(entries)
        } catch let fault as ConfigurationFault {
            let line = fault.line.map { ", line \($0)" } ?? ""
            throw CommandFailure(
                description: "\(path.description)\(line): \(fault.message.printable)")
        } catch {
            throw CommandFailure(description: "\(path.description): \(error)")
        }
    }

    private static func usualFile(_ environment: [String: String]) -> FilePath? {
        // As the specification wants, a relative path does not count.
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].map { "\($0)/.config" }
        return (folder ?? home).flatMap { FilePath(argument: "\($0)/halcyon/config.toml") }
    }

    /// The value of an option, which is given by one of its names.
    private static func value(of names: [String], in options: ArraySlice<String>) -> String? {
        for index in options.indices.reversed() {
            if names.contains(options[index]) {
                return index + 1 < options.endIndex ? options[index + 1] : nil
            }
            for name in names where options[index].hasPrefix("\(name)=") {
                return String(options[index].dropFirst(name.count + 1))
            }
        }
        return nil
    }

    /// `nil` where no command with defaults is given.
    private init?(_ arguments: [String], home: String?) {
        let text = HalcyonCommand._dumpHelp()
        guard let help = try? JSONDecoder().decode(Help.self, from: Data(text.utf8)) else {
            preconditionFailure("The parser tells of its commands in another way: \(text)")
        }
        root = help.command
        self.home = home
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
        // A name that is given may tell the format, too.
        let words = given.prefix { $0 != "--" }
        let name =
            Self.value(of: ["--output", "-o"], in: words)
            ?? Self.value(of: ["--name"], in: words)
        let ending = name.flatMap { $0.split(separator: "/").last }?
            .split(separator: ".", omittingEmptySubsequences: false).dropFirst().last
        let isNamed = ending.map { !$0.isEmpty && $0 != "{ext}" } ?? false
        let free = mine.filter { !isGiven($0.key) && !(isNamed && $0.key == "format") }
        if fault(free, given) == nil { return arguments(free, given) }
        // A value of the file is wrong, or defaults do not go with what is given, and then they do not count.
        for entry in mine {
            if let message = fault([entry]) {
                throw ConfigurationFault(line: entry.line, message: message)
            }
        }
        for table in Set(mine.map(\.table)) {
            let together = mine.filter { $0.table == table }
            if let message = fault(together) {
                throw ConfigurationFault(line: together.last?.line, message: message)
            }
        }
        var kept: [ConfigurationEntry] = []
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            // Those of a command come before those of all here, too.
            for entry in free.sorted(by: { $0.table.count > $1.table.count })
            where !kept.contains(entry) && fault(kept + [entry], given) == nil {
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
        name.misspelling(of: names).map { "; did you mean “\($0)”?" } ?? ""
    }

    private func isGiven(_ key: String) -> Bool {
        given.prefix { $0 != "--" }.contains { $0 == "--\(key)" || $0.hasPrefix("--\(key)=") }
    }

    private func arguments(_ entries: [ConfigurationEntry], _ given: [String]) -> [String] {
        names
            + entries.flatMap { entry in
                switch entry.value {
                case .truth(let isSet): isSet ? ["--\(entry.key)"] : []
                case .text(let text): ["--\(entry.key)=\(expanded(text))"]
                case .number(let text): ["--\(entry.key)=\(text)"]
                case .texts(let texts): texts.map { "--\(entry.key)=\(expanded($0))" }
                }
            } + given
    }

    /// A path in the home folder, as shells write it.
    private func expanded(_ text: String) -> String {
        guard text.hasPrefix("~/"), let home else { return text }
        return home + text.dropFirst()
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
            // To watch takes a folder that is there.
            for source in ["x", "."] {
                lines.append(places.isEmpty ? [] : [source, "--output-directory=x"])
            }
        }
        var message: String?
        for line in lines {
            message = fault(entries, line)
            if message == nil { return nil }
        }
        return message
    }
}
