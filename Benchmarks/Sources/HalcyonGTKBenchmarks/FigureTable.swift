import Foundation

/// Figures with their median and range.
struct FigureTable {
    private struct Row {
        let name: String
        let unit: String
        var samples: [Double]
    }

    private var rows: [Row] = []

    mutating func add(_ name: String, _ unit: String, _ samples: [Double]) {
        if let index = rows.firstIndex(where: { $0.name == name && $0.unit == unit }) {
            rows[index].samples += samples
        } else {
            rows.append(Row(name: name, unit: unit, samples: samples))
        }
    }

    /// A table in Markdown.
    var text: String {
        let head = ["| | median | least … greatest |", "| --- | --- | --- |"]
        let lines = rows.map { row -> String in
            let sorted = row.samples.sorted()
            guard let least = sorted.first, let greatest = sorted.last else {
                return "| \(row.name) | – | – |"
            }
            let median = sorted[sorted.count / 2]
            return String(
                format: "| %@ | %.2f %@ | %.2f … %.2f |", row.name, median, row.unit, least,
                greatest)
        }
        return (head + lines).joined(separator: "\n")
    }
}
