import HalcyonStorage

extension ImageServer {
    private static let cleaningInterval = Duration.seconds(3600)
    private static let restInterval = Duration.seconds(10)

    /// Removes from the disk what nobody has used for too long, once in an hour, and gives memory back that
    /// is not needed at rest, until the task is cancelled.
    func cleanFromTimeToTime() async {
        async let trimming: Void = trimAtRest()
        while (try? await Task.sleep(for: Self.cleaningInterval)) != nil { await clean() }
        await trimming
    }

    /// Removes from the disk what nobody has used for too long.
    func clean() async {
        await sources.remote?.known.clean()
        await makers.results.clean()
    }

    private func trimAtRest() async {
        var watch = RestWatch()
        while (try? await Task.sleep(for: Self.restInterval)) != nil {
            if watch.restHasBegun(makers.gate.usage) { HeapTrim.plan() }
        }
    }
}

/// Tells that nothing has been decoded for some time, once after each time of work. Asked at intervals.
struct RestWatch {
    /// How many had entered the gate at the last look, and at the beginning of the last rest.
    private var seen = 0
    private var rested = 0

    mutating func restHasBegun(_ gate: Gate.Usage) -> Bool {
        defer { seen = gate.entered }
        guard gate.passing == 0, gate.entered == seen, gate.entered != rested else { return false }
        rested = gate.entered
        return true
    }
}
