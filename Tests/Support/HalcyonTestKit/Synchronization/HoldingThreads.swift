import Synchronization
package import Testing

/// Tests that hold a thread that all others share, be it the main one or one of those that decode, do so one after
/// the other: one would hold the main thread until something is decoded, and others all decoding threads until
/// the main thread tells them to go on.
package struct HoldingThreads: TestTrait, TestScoping {
    private static let last = Mutex<Gate?>(nil)

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let ended = Gate()
        let previous = Self.last.withLock { last in
            defer { last = ended }
            return last
        }
        try await previous?.wait()
        defer { ended.open() }
        try await function()
    }
}

extension Trait where Self == HoldingThreads {
    package static var holdingThreads: HoldingThreads { HoldingThreads() }
}
