/// The written part of the document.
struct MarkdownFigures {
    let machine: Machine
    let rows: [Row]

    var text: String {
        [
            machine.lines.map { "- \($0)" }.joined(separator: "\n"),
            Table(rows).markdown,
            "What each row measures:",
            conditions,
        ].joined(separator: "\n\n")
    }

    /// A line for each benchmark, or for several that follow one another and have the same.
    private var conditions: String {
        var items: [(names: [String], text: String)] = []
        for benchmark in Benchmark.all where rows.contains(where: { $0.name == benchmark.name }) {
            if let last = items.last, last.text == benchmark.conditions {
                items[items.count - 1].names.append(benchmark.name)
            } else {
                items.append(([benchmark.name], benchmark.conditions))
            }
        }
        return items.map { "- **\($0.names.joined(separator: ", "))**: \($0.text)" }
            .joined(separator: "\n")
    }
}
