import HalcyonPixels
import HalcyonStorage
import HalcyonWork

/// Removes what the caches and the memory need no longer.
struct Cleaning: Sendable {
    let sources: KnownSources?
    let results: ResultCache
    let decoders: Gate
    let time: TimeSource

    private static let cleaningInterval = Duration.seconds(3600)
    private static let restInterval = Duration.seconds(10)

    /// Removes expired files once an hour, and returns unneeded memory, until the task is cancelled.
    func runFromTimeToTime() async {
        async let trimming: Void = trimFromTimeToTime()
        while (try? await time.sleep(for: Self.cleaningInterval)) != nil { await run() }
        await trimming
    }

    func run() async {
        await sources?.clean()
        await results.clean()
    }

    private func trimFromTimeToTime() async {
        var watch = RestWatch()
        while (try? await time.sleep(for: Self.restInterval)) != nil {
            // Looking at the heaps takes their locks, as trimming does: not on a thread of Swift's.
            let isWasteful = await DiskLane.reading.run { Self.isWasteful }
            if watch.restHasBegun(decoders.usage) || isWasteful { HeapTrim.plan() }
        }
    }

    /// Whether too much resident memory is unused: under load, pictures of all sizes leave holes in
    /// the heaps of all threads that are too small for the next ones, and the server is never idle.
    private static var isWasteful: Bool {
        guard let resident = ResidentMemory.current?.anonymous else { return false }
        let used =
            HeapUsage.current.used + PixelMemoryPool.shared.usedCount
            + PixelMemoryPool.shared.waitingCount
        return resident - used > mostWaste
    }

    private static let mostWaste = 64_000_000
}

/// Tells, asked at intervals, that nothing has been decoded for a while: once after each work.
struct RestWatch {
    /// The number of gate entries at the last look, and at the start of the last rest.
    private var seen = 0
    private var rested = 0

    mutating func restHasBegun(_ gate: Gate.Usage) -> Bool {
        defer { seen = gate.entered }
        guard gate.passing == 0, gate.entered == seen, gate.entered != rested else { return false }
        rested = gate.entered
        return true
    }
}
