import HalcyonWork
import Vips

/// Where encoding, drawing and writing files happens: never on Swift's cooperative threads.
enum BlockingWork {
    /// A few threads even where there is one core: some work waits for files.
    private static let pool = ThreadPool(
        name: "halcyon.work", width: max(4, Processors.count),
        afterEachJob: { Vips.endJob() })

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await pool.run(body)
    }
}
