/// The rows whose ratio does not reach their target, for the end of a run.
struct Shortfalls {
    private let rows: [Row]
    private let targets: Int

    init(_ rows: [Row]) {
        self.rows = rows.filter(\.isUnderTarget)
        targets = rows.count { $0.target != nil }
    }

    /// A line that counts and one for each row; `nil` when no row has a target.
    var text: String? {
        guard targets > 0 else { return nil }
        guard !rows.isEmpty else { return "Under target: none of \(targets) rows" }
        return (["Under target: \(rows.count) of \(targets) rows"] + rows.map { "    \($0.line)" })
            .joined(separator: "\n")
    }
}
