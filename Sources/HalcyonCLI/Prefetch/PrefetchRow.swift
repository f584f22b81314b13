/// What became of one source of the list: a line for people and an object for programs.
struct PrefetchRow: Sendable {
    enum Status: String, Sendable {
        case completed
        /// It was cached before.
        case skipped
        case failed
    }

    let source: ImageArgument
    let status: Status

    var json: JSONObject {
        JSONObject(["source": .string(source.text), "status": .string(status.rawValue)])
    }

    func line(style: TextStyle) -> String {
        let mark = status == .failed ? style(.red, "✗") : style(.green, "✓")
        return "\(mark) \(source.label.printable)  " + style(.faint, status.rawValue)
    }
}

/// How many sources of a list were loaded, were cached before and failed.
struct PrefetchTally {
    private(set) var completed = 0
    private(set) var skipped = 0
    private(set) var failed = 0

    var count: Int { completed + skipped + failed }

    mutating func count(_ row: PrefetchRow) {
        switch row.status {
        case .completed: completed += 1
        case .skipped: skipped += 1
        case .failed: failed += 1
        }
    }

    func json(after duration: Duration) -> JSONObject {
        JSONObject([
            "completed": .int(Int64(completed)), "skipped": .int(Int64(skipped)),
            "failed": .int(Int64(failed)), "milliseconds": .double(duration.milliseconds),
        ])
    }

    func summary(after duration: Duration, style: TextStyle) -> String {
        let failures = "\(failed) failed"
        let parts = [
            "\(completed) completed", "\(skipped) skipped",
            failed > 0 ? style(.red, failures) : failures,
        ]
        return "\(Quantity.count(count, "image")): \(parts.joined(separator: ", "))"
            + " in \(Quantity.milliseconds(duration.milliseconds))"
    }
}
