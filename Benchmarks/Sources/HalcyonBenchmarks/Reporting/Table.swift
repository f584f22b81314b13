/// The rows in columns, without those columns that no row has anything for.
struct Table {
    private static let titles = [
        "benchmark", "unit", "Halcyon", "peer", "peer's figure", "ratio", "target", "quality",
    ]

    private let lines: [[String]]

    init(_ rows: [Row]) {
        let cells = rows.map { Self.cells(of: $0) }
        let columns = Self.titles.indices.filter { column in
            cells.contains { !$0[column].isEmpty }
        }
        lines = ([Self.titles] + cells).map { line in columns.map { line[$0] } }
    }

    /// Columns padded with spaces.
    var text: String {
        let widths = lines[0].indices.map { column in
            lines.map { $0[column].count }.max() ?? 0
        }
        return lines.map { cells in
            zip(cells, widths)
                .map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
        }
        .joined(separator: "\n")
    }

    /// A table of Markdown.
    var markdown: String {
        let rule = lines[0].map { _ in "---" }
        return ([lines[0], rule] + lines.dropFirst())
            .map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }

    private static func cells(of row: Row) -> [String] {
        [
            row.name,
            row.clock == .cpu ? "\(row.unit.symbol) CPU" : row.unit.symbol,
            row.ours.text,
            row.peerName,
            row.peer.text,
            row.ratioText,
            row.target.map { "×\(Row.number($0))" } ?? "",
            quality(of: row),
        ]
    }

    private static func quality(of row: Row) -> String {
        guard let measure = row.qualityClass, let ours = row.ours.quality,
            let peer = row.peer.quality
        else { return "" }
        return "\(measure.text(ours)) / \(measure.text(peer))"
    }
}
