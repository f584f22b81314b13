import Glibc

/// Times work in this process.
enum Stopwatch {
    /// The time of `body`, which does the same operation `operations` times.
    static func time(operations: Int = 1, _ body: () async throws -> Void) async rethrows
        -> Sample
    {
        let wall = seconds(CLOCK_MONOTONIC)
        let cpu = seconds(CLOCK_PROCESS_CPUTIME_ID)
        try await body()
        return .time(
            wall: (seconds(CLOCK_MONOTONIC) - wall) / Double(operations),
            cpu: (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / Double(operations))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Takes a result, so that the work for it cannot be left out.
@inline(never)
func consume<T>(_ value: T) {
    withExtendedLifetime(value) {}
}

/// Does `body` for 0..<count, `width` at a time.
func concurrently(
    _ count: Int, width: Int, _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for first in 0..<width {
            group.addTask {
                for index in stride(from: first, to: count, by: width) {
                    try await body(index)
                }
            }
        }
        try await group.waitForAll()
    }
}
