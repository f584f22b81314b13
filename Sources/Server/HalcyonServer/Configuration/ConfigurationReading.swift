public import Foundation
import HalcyonPixels
import HalcyonStorage
import HalcyonWork

/// The faults of a configuration: all of them, not only the first.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence each.
    public let faults: [String]

    public init(faults: [String]) { self.faults = faults }

    public var description: String { faults.joined(separator: "\n") }
}

extension ImageServerConfiguration {
    /// Takes settings from the text of a JSON file: objects within objects, or names with dots.
    ///
    /// Comments and trailing commas are allowed, as in JSON5.
    ///
    /// ```json
    /// { "bind": "127.0.0.1:8080", "sources": { "local": { "root": "/srv/pictures" } } }
    /// ```
    /// - Throws: `ConfigurationError` with all faults; an unknown name is told with the nearest one.
    public mutating func take(file: Data) throws(ConfigurationError) {
        let root: SettingValue
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            root = try decoder.decode(SettingValue.self, from: file)
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
                // A single value stands for a list of one.
                if setting.take(value, &self) || setting.take(.list([value]), &self) { continue }
                faults.append(setting.fault(named: name))
            } else if case .table(let inner) = value,
                Setting.all.contains(where: { $0.name.hasPrefix(name + ".") })
            {
                take(inner, below: name, &faults)
            } else {
                faults.append(Self.unknown(name))
            }
        }
    }

    /// Takes settings from environment variables, which override those of a file.
    ///
    /// - Returns: The names of other variables that begin with `HALCYON_`: they may be misspelt,
    ///   or of other programs. Those that clusters and this package's own tools set are left out.
    /// - Throws: `ConfigurationError` with all faults. A variable that is nearly a setting, or
    ///   begins like a group of settings, is an error that tells the nearest one.
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
                if !setting.take(.text(text), &self) { faults.append(setting.fault(named: name)) }
            } else if !UnknownVariable.isOfOthers(name, text) {
                let variable = UnknownVariable(name)
                if variable.isMisspelt {
                    faults.append(Self.unknown(name, nearest: variable.nearest))
                } else {
                    unknown.append(name)
                }
            }
        }
        if !faults.isEmpty { throw ConfigurationError(faults: faults) }
        return unknown
    }

    /// Sets one setting by its name, as a flag of the command does.
    /// - Throws: `ConfigurationError` for an unknown name or an invalid value.
    public mutating func set(_ name: String, to text: String) throws(ConfigurationError) {
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            throw ConfigurationError(faults: [Self.unknown(name)])
        }
        guard setting.take(.text(text), &self) else {
            throw ConfigurationError(faults: [setting.fault(named: name)])
        }
    }

    var cacheDirectory: URL {
        if let directory = cache.directory { return URL(fileURLWithPath: directory) }
        return DiskStorage.userCaches().appendingPathComponent("halcyon-server")
    }

    /// ``pathPrefix`` with a slash before each of its segments.
    var prefix: String { pathPrefix.split(separator: "/").map { "/" + $0 }.joined() }

    /// The settings with what holds in place of those that are not set.
    ///
    /// - Parameter logFormat: What lines of the log look like here.
    package func effective(logFormat: Log.Format) -> ImageServerConfiguration {
        var configuration = self
        configuration.cache.directory = cacheDirectory.path
        configuration.http.ttl = http.ttl ?? (signature.isRequired ? .seconds(31_536_000) : .zero)
        configuration.log.format = log.format ?? logFormat
        configuration.playground = showsPlayground
        configuration.work.decoders = min(work.decoders, Processors.count)
        configuration.work.memory = work.memory ?? DecodingBudget.shared.limit
        return configuration
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

    private static func unknown(_ name: String) -> String {
        let nearest = name.lowercased().nearest(of: Setting.all.map { $0.name.lowercased() })
        let setting = Setting.all.first { $0.name.lowercased() == nearest.text }
        return unknown(name, nearest: setting?.name ?? "bind")
    }

    private static func unknown(_ name: String, nearest: String) -> String {
        "There is no setting \(name). The nearest is \(nearest)."
    }
}

/// An environment variable that begins like one of a setting, but is none.
private struct UnknownVariable {
    /// The variable of the most similar setting.
    let nearest: String
    let isMisspelt: Bool

    init(_ name: String) {
        // The program's whole name is put before by mistake.
        let prefix = name.hasPrefix("HALCYON_SERVER_") ? "HALCYON_SERVER_" : "HALCYON_"
        let rest = String(name.dropFirst(prefix.count))
        let (text, distance) = rest.nearest(of: Self.variables)
        nearest = "HALCYON_" + text
        let word = String(rest.prefix { $0 != "_" })
        let isOfGroup = word.count < rest.count && word.isNearly(word.nearest(of: Self.groups))
        isMisspelt = isOfGroup || rest.isNearly((text, distance))
    }

    /// Whether it is a variable that containers get from a cluster's service of this name, or one
    /// of this package's library, tests and scripts.
    static func isOfOthers(_ name: String, _ text: String) -> Bool {
        tools.contains { $0.hasSuffix("_") ? name.hasPrefix($0) : name == $0 }
            || name.hasSuffix("_SERVICE_HOST")
            || name.contains("_SERVICE_PORT")
            || name.contains("_PORT") && ["tcp://", "udp://"].contains(where: text.hasPrefix)
            || name.contains(/_PORT_[0-9]+_(TCP|UDP)/)
    }

    /// Names, and beginnings of names.
    private static let tools = [
        "HALCYON_CORPUS", "HALCYON_FLAKY_LIST", "HALCYON_FUZZ_", "HALCYON_HTTP_CACHE_TESTS",
        "HALCYON_LIBRARY_", "HALCYON_OTHER_", "HALCYON_PROGRAMS", "HALCYON_SCHEDULE",
        "HALCYON_TEST_",
    ]

    /// Without the common prefix.
    private static let variables = Setting.all.map { String($0.variable.dropFirst(8)) }

    private static let groups = Set(
        Setting.all.compactMap { setting in
            setting.name.firstIndex(of: ".").map { setting.name[..<$0].uppercased() }
        }
    ).sorted()
}

extension SettingValue {
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
