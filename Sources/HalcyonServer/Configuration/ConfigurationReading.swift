public import Foundation

/// What is wrong with a configuration: everything, not only what was found first.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence each.
    public let faults: [String]

    public init(faults: [String]) {
        self.faults = faults
    }

    public var description: String { faults.joined(separator: "\n") }
}

extension ImageServerConfiguration {
    /// Takes settings from the text of a JSON file: objects within objects, or names with dots.
    ///
    /// ```json
    /// { "bind": "127.0.0.1:8080", "sources": { "local": { "root": "/srv/pictures" } } }
    /// ```
    /// - Throws: `ConfigurationError` with all that is wrong; an unknown name is told with the one that
    ///   is nearest.
    public mutating func take(file: Data) throws(ConfigurationError) {
        let root: SettingValue
        do {
            root = try JSONDecoder().decode(SettingValue.self, from: file)
        } catch {
            throw ConfigurationError(faults: ["The file is not JSON."])
        }
        guard case .table(let table) = root else {
            throw ConfigurationError(faults: ["The file is not a JSON object."])
        }
        var faults: [String] = []
        take(table, &faults)
        if !faults.isEmpty { throw ConfigurationError(faults: faults) }
    }

    mutating func take(
        _ table: [String: SettingValue], below prefix: String = "", _ faults: inout [String]
    ) {
        for (key, value) in table.sorted(by: { $0.key < $1.key }) {
            let name = prefix.isEmpty ? key : "\(prefix).\(key)"
            if let setting = Setting.all.first(where: { $0.name == name }) {
                // One where a list is possible is a list of one.
                let isTaken =
                    setting.take(value, &self) || setting.take(.list([value]), &self)
                if !isTaken { faults.append("\(name) must be \(setting.expected).") }
            } else if case .table(let inner) = value,
                Setting.all.contains(where: { $0.name.hasPrefix(name + ".") })
            {
                take(inner, below: name, &faults)
            } else {
                faults.append(Self.unknown(name))
            }
        }
    }

    /// Takes settings from variables of the environment, which go before what was taken of a file.
    ///
    /// - Returns: The names of variables that begin with `HALCYON_SERVER_` or with the name of a group of
    ///   settings, and are none.
    /// - Throws: `ConfigurationError` with all that is wrong.
    public mutating func take(
        environment: [String: String]
    ) throws(ConfigurationError) -> [String] {
        let settings = Dictionary(
            Setting.all.map { ($0.variable, $0) }, uniquingKeysWith: { first, _ in first })
        var faults: [String] = []
        var unknown: [String] = []
        for (name, text) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix("HALCYON_") {
            if let setting = settings[name] {
                if !setting.take(.text(text), &self) {
                    faults.append("\(name) must be \(setting.expected).")
                }
            } else if Self.groups.contains(where: name.hasPrefix) {
                unknown.append(name)
            }
        }
        if !faults.isEmpty { throw ConfigurationError(faults: faults) }
        return unknown
    }

    /// Sets one setting by its name, as a flag of the command does.
    /// - Throws: `ConfigurationError` when there is none of the name, or the value is none of its.
    public mutating func set(_ name: String, to text: String) throws(ConfigurationError) {
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            throw ConfigurationError(faults: [Self.unknown(name)])
        }
        guard setting.take(.text(text), &self) else {
            throw ConfigurationError(faults: ["\(name) must be \(setting.expected)."])
        }
    }

    /// All settings as JSON, with `***` in place of secrets.
    public var json: String {
        var root: [String: SettingValue] = [:]
        for setting in Setting.all {
            var value = setting.value(self)
            if setting.isSecret { value = value.masked }
            root.set(value, at: setting.name.split(separator: ".").map(String.init)[...])
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(SettingValue.table(root)) else {
            preconditionFailure("settings are always JSON")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `HALCYON_LIMITS_` and its like.
    private static let groups = Set(
        Setting.all.compactMap { setting -> String? in
            guard let dot = setting.name.firstIndex(of: ".") else { return nil }
            return "HALCYON_\(setting.name[..<dot].uppercased())_"
        })

    private static func unknown(_ name: String) -> String {
        let nearest = Setting.all.map(\.name).min {
            name.lowercased().distance(to: $0.lowercased())
                < name.lowercased().distance(to: $1.lowercased())
        }
        return "There is no setting \(name). The nearest is \(nearest ?? "bind")."
    }
}

extension SettingValue {
    /// The same with `***` in place of texts.
    fileprivate var masked: SettingValue {
        switch self {
        case .text: .text("***")
        case .list(let list): .list(list.map(\.masked))
        default: self
        }
    }
}

extension [String: SettingValue] {
    fileprivate mutating func set(_ value: SettingValue, at path: ArraySlice<String>) {
        guard let key = path.first else { return }
        let rest = path.dropFirst()
        if rest.isEmpty {
            self[key] = value
            return
        }
        var inner: [String: SettingValue] = [:]
        if case .table(let table) = self[key] { inner = table }
        inner.set(value, at: rest)
        self[key] = .table(inner)
    }
}

extension String {
    /// How many characters have to be put in, left out or exchanged (Levenshtein).
    fileprivate func distance(to other: String) -> Int {
        let (one, two) = (Array(self), Array(other))
        var row = Array(0...two.count)
        for (i, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, candidate) in two.enumerated() {
                let replaced = diagonal + (character == candidate ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = Swift.min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[two.count]
    }
}
