import Foundation
import HalcyonWork
import Vips

/// The threads on which images are decoded, processed and encoded: as many as there are cores, so
/// that neither Swift's cooperative threads nor the cores are overcommitted.
final class DecodingPool: Sendable {
    static let shared = DecodingPool(threads: ProcessInfo.processInfo.activeProcessorCount)

    private let pool: ThreadPool

    init(threads: Int) {
        pool = ThreadPool(name: "halcyon-decode", width: threads)
    }

    /// Runs `body` on the pool and returns what it returns.
    func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await handedOver { hand in
            submit { hand(Result { try body() }) }
        }.get()
    }

    /// Runs `body` on the pool some time after this returns.
    func submit(_ body: @escaping @Sendable () -> Void) {
        pool.submit {
            body()
            Vips.endJob()
        }
    }
}
