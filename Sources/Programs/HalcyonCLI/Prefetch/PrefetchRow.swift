import Halcyon
import HalcyonWork

struct PrefetchRow: ResultRow {
    enum Outcome: Equatable, Sendable {
        case completed
        /// It was cached before.
        case skipped
        case failed(LoadFailure)
    }

    let source: ImageArgument
    let outcome: Outcome

    var failure: LoadFailure? {
        if case .failed(let failure) = outcome { failure } else { nil }
    }

    var json: JSONObject {
        var object = JSONObject(["source": source.text, "status": outcome.name])
        object.add(present: ["error": failure?.json])
        return object
    }

    func line(style: TextStyle) -> String {
        let name = source.label.printable
        if let failure { return style(.red, "✗") + " \(name)  \(failure.text)" }
        return style(.green, "✓") + " \(name)  " + style(.faint, outcome.name)
    }
}

extension PrefetchRow {
    /// Brings the image of `argument` into the cache; cancelling the task stops that.
    init(of argument: ImageArgument, _ options: KingfisherOptionsInfo) async {
        let source: Source
        switch argument.source {
        case .success(let found): source = found
        case .failure(let failure):
            self.init(source: argument, outcome: .failed(failure))
            return
        }
        let isSkipped = OneShot<Bool>()
        let prefetcher = ImagePrefetcher(
            sources: [source], options: options.storing(source)
        ) { skipped, _, _ in
            isSkipped.give(!skipped.isEmpty)
        }
        prefetcher.start()
        let outcome: Outcome = await withTaskCancellationHandler {
            await isSkipped.value ? .skipped : .completed
        } onCancel: {
            prefetcher.stop()
        }
        let failure = prefetcher.failures.first.map { LoadFailure($0.error, of: argument) }
        self.init(source: argument, outcome: failure.map(Outcome.failed) ?? outcome)
    }
}

extension PrefetchRow.Outcome {
    fileprivate var name: String {
        switch self {
        case .completed: "completed"
        case .skipped: "skipped"
        case .failed: "failed"
        }
    }
}

/// The numbers of completed, skipped and failed sources of a list.
struct PrefetchTally {
    private(set) var completed = 0
    private(set) var skipped = 0
    private(set) var failed = 0

    var count: Int { completed + skipped + failed }

    mutating func count(_ row: PrefetchRow) {
        switch row.outcome {
        case .completed: completed += 1
        case .skipped: skipped += 1
        case .failed: failed += 1
        }
    }

    func json(after duration: Duration) -> JSONObject {
        JSONObject([
            "completed": completed, "skipped": skipped, "failed": failed,
            "milliseconds": duration.milliseconds.inHundredths,
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
