import Foundation

/// The document of figures: prose by hand, and a part between two marks that is written here.
struct Document {
    private static let begin = "<!-- figures: begin, written by scripts/benchmark --markdown -->"
    private static let end = "<!-- figures: end -->"

    private let file: URL

    init(_ file: URL) {
        self.file = file
    }

    func replaceFigures(with figures: String) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let begin = text.range(of: Self.begin),
            let end = text.range(of: Self.end, range: begin.upperBound..<text.endIndex)
        else { throw BenchmarkError("\(file.path) has no place for the figures") }
        let new = text.replacingCharacters(
            in: begin.upperBound..<end.lowerBound, with: "\n\n\(figures)\n\n")
        try Data(new.utf8).write(to: file)
    }
}
