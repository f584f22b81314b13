struct PresetTable: Sendable {
    /// The one that is applied to every URL.
    static let defaultName = "default"

    private var options: [String: [String]] = [:]
    /// In the order of the configuration.
    private(set) var names: [String] = []
    private(set) var faults: [PlanError] = []

    /// - Parameter lines: `name=option/option/…`; empty lines and comments mean nothing.
    init(_ lines: [String]) {
        for line in lines {
            let line = line.trimmingSpaces
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", omittingEmptySubsequences: false)
            let segments = parts.last?.split(separator: "/").map(String.init) ?? []
            guard parts.count == 2, !parts[0].isEmpty, !segments.isEmpty,
                segments.allSatisfy({ $0.utf8.contains(UInt8(ascii: ":")) })
            else {
                faults.append(
                    PlanError(.invalidOption, "Preset “\(line)” has to be NAME=OPTION/OPTION."))
                continue
            }
            let name = String(parts[0])
            guard options[name] == nil else {
                faults.append(PlanError(.invalidOption, "Preset \(name) is there twice."))
                continue
            }
            names.append(name)
            options[name] = segments
        }
    }

    func contains(_ name: String) -> Bool { options[name] != nil }

    /// The options of a preset; none when there is no such preset.
    subscript(name: String) -> [String] { options[name] ?? [] }
}

extension StringProtocol {
    /// Without spaces and tabs at the ends.
    var trimmingSpaces: String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        let start = drop(while: isSpace)
        let count = start.reversed().prefix(while: isSpace).count
        return String(start.dropLast(count))
    }
}
