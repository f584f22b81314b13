import Foundation

/// The guide to the server, docs/server/server.md, by its parts.
struct ServerGuide {
    /// What stands between fences, each with the word behind the first one.
    private(set) var blocks: [(language: String, code: String)] = []
    /// All other lines.
    private(set) var prose = ""

    /// The folder of the package.
    static let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    /// What stands in a file of the package.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    init() throws {
        let text = try Self.text("docs/server/server.md")
        var block: (language: String, lines: [String])?
        for line in text.components(separatedBy: "\n") {
            if let (language, lines) = block {
                block = line == "```" ? nil : (language, lines + [line])
                if block == nil { blocks.append((language, lines.joined(separator: "\n"))) }
            } else if line.hasPrefix("```") {
                block = (String(line.dropFirst(3)), [])
            } else {
                prose += line + "\n"
            }
        }
    }

    /// The rows below the first table whose head begins so, each by its cells.
    func rows(below head: String) -> [[String]] {
        let lines = prose.components(separatedBy: "\n")
        guard let start = lines.firstIndex(where: { $0.hasPrefix("| \(head)") }) else { return [] }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.dropFirst().dropLast().components(separatedBy: " |").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// What stands in backquotes, in its order, with a space where a line ends.
    static func code(in text: String) -> [String] {
        text.matches(of: /`([^`]+)`/).map { String($0.1).replacing("\n", with: " ") }
    }
}
