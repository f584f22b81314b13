/// The progress of running sources, drawn as one line per source and one for the total.
struct ProgressBoard: Sendable {
    struct Entry: Sendable {
        var label: String
        var received: Int64 = 0
        /// The expected size, in bytes; `nil` until the server has sent it.
        var total: Int64?
    }

    let sourceCount: Int
    /// Whether the total has a bar, in place of lines for running sources.
    let showsTotalBar: Bool
    private(set) var finished = 0
    private(set) var failed = 0
    private(set) var receivedByFinished: Int64 = 0
    private var running: [Int: Entry] = [:]

    init(sourceCount: Int, showsTotalBar: Bool = false) {
        self.sourceCount = sourceCount
        self.showsTotalBar = showsTotalBar
    }

    mutating func start(_ index: Int, label: String) {
        running[index] = Entry(label: label)
    }

    /// Updates the progress of a running source. Reports after its end are ignored.
    mutating func receive(_ index: Int, received: Int64, total: Int64?) {
        guard running[index] != nil else { return }
        running[index]?.received = received
        running[index]?.total = total
    }

    mutating func finish(_ index: Int, failed hasFailed: Bool) {
        guard let entry = running.removeValue(forKey: index) else { return }
        finish(failed: hasFailed)
        receivedByFinished += entry.received
    }

    mutating func finish(failed hasFailed: Bool) {
        finished += 1
        failed += hasFailed ? 1 : 0
    }

    /// The lines for a terminal of this size, never wider than `width`.
    func lines(width: Int, height: Int, style: TextStyle) -> [String] {
        let room = max(1, min(height - 2, 12))
        let shown = showsTotalBar ? [:] : running
        let entries = shown.sorted { $0.key < $1.key }.map(\.value)
        var lines = entries.prefix(room).map { line(for: $0, width: width, style: style) }
        if entries.count > room {
            lines.append("… and \(entries.count - room) more".prefix(columns: width))
        }
        lines.append(summary(width: width, style: style))
        return lines
    }

    private func line(for entry: Entry, width: Int, style: TextStyle) -> String {
        let amount = amount(of: entry)
        let fraction = entry.total.flatMap { $0 > 0 ? Double(entry.received) / Double($0) : nil }
        let percent = fraction.map { "\(Int(min(1, $0) * 100))%" } ?? ""
        let right = " \(percent.padded(to: 4, alignment: .right))  \(amount)"
        let labelWidth = max(8, min(32, width / 3))
        let label = entry.label.printable.shortened(to: labelWidth).padded(to: labelWidth)
        let barWidth = min(40, width - labelWidth - 1 - right.columns)
        guard barWidth >= 5 else {
            return "\(entry.label.printable.shortened(to: max(1, width - right.columns)))\(right)"
                .prefix(columns: width)
        }
        return "\(label) " + bar(of: barWidth, filled: fraction ?? 0, style: style) + right
    }

    private func bar(of width: Int, filled fraction: Double, style: TextStyle) -> String {
        let filled = Int(Double(width) * min(1, fraction))
        return style(.cyan, String(repeating: "━", count: filled))
            + style(.faint, String(repeating: "─", count: width - filled))
    }

    private func amount(of entry: Entry) -> String {
        guard let total = entry.total else {
            return entry.received > 0 ? Quantity.bytes(entry.received) : "waiting"
        }
        return "\(Quantity.bytes(entry.received)) of \(Quantity.bytes(total))"
    }

    private func summary(width: Int, style: TextStyle) -> String {
        let received = running.values.reduce(receivedByFinished) { $0 + $1.received }
        var text = "\(finished) of \(Quantity.count(sourceCount, "image"))"
        if received > 0 { text += ", \(Quantity.bytes(received))" }
        if failed > 0 { text += ", \(failed) failed" }
        let barWidth = min(40, width - 2 - text.columns)
        guard showsTotalBar, sourceCount > 0, barWidth >= 5 else {
            return style(.bold, text.prefix(columns: width))
        }
        let fraction = Double(finished) / Double(sourceCount)
        return bar(of: barWidth, filled: fraction, style: style) + "  " + style(.bold, text)
    }
}
