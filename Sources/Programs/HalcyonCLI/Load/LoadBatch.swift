/// Loads a list of sources concurrently, and reports their rows in the order of the list.
struct LoadBatch: Sendable {
    let arguments: [ImageArgument]
    /// The maximum number of concurrent loads; at least 1.
    let jobs: Int
    let console: Console

    /// Runs `load` for each source and calls `report` with the rows, in order.
    ///
    /// Once the task is cancelled, no further source is started, and failures by cancellation are
    /// not reported.
    func run(
        _ load: @escaping @Sendable (Job) async -> LoadRow, report: (LoadRow) -> Void
    ) async {
        console.beginProgress(ProgressBoard(sourceCount: arguments.count))
        var rows = ResultSequencer<LoadRow>()
        await withTaskGroup(of: (Int, LoadRow).self) { group in
            var waiting = arguments.indices.makeIterator()
            func startNext() {
                guard !Task.isCancelled, let index = waiting.next() else { return }
                let job = Job(index: index, argument: arguments[index], console: console)
                group.addTask { (index, await job.run(load)) }
            }
            for _ in 0..<jobs { startNext() }
            while let (index, row) = await group.next() {
                startNext()
                for row in rows.finish(index, with: row) where !row.isCancelled {
                    report(row)
                }
            }
        }
    }

    struct Job: Sendable {
        let index: Int
        let argument: ImageArgument
        let console: Console

        func run(_ load: @Sendable (Job) async -> LoadRow) async -> LoadRow {
            console.progress { [index, argument] in $0.start(index, label: argument.shortName) }
            let row = await load(self)
            console.progress { [index] in $0.finish(index, failed: row.isFailure) }
            return row
        }

        func receive(_ received: Int64, of total: Int64) {
            console.progress { [index] in $0.receive(index, received: received, total: total) }
        }
    }
}
