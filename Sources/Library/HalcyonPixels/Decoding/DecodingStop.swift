import CCodecs

/// Has decoding end that nobody waits for any longer.
///
/// Decoders of our own look for it between rows, and pipelines of libvips are cancelled within a tenth of a
/// second, and what waits for memory waits no longer. What is being encoded goes on to its end.
package final class DecodingStop: @unchecked Sendable {
    // Unchecked because of the pointer; what it points to is atomic.

    private let flag: OpaquePointer

    package init() {
        guard let flag = cdecoding_make_stop() else {
            preconditionFailure("there is no memory for a byte")
        }
        self.flag = flag
    }

    deinit {
        cdecoding_free_stop(flag)
    }

    /// Ends decoding, now and later on.
    package func give() {
        cdecoding_give_stop(flag)
        DecodingBudget.shared.wake()
    }

    package var isGiven: Bool { cdecoding_is_stop_given(flag) }

    /// Whether what watches it waits for memory that other decoding takes.
    package var waitsForMemory: Bool { cdecoding_waits_for_memory(flag) }

    /// Runs `body` on this thread; decoding in it fails once this is given.
    package func watching<Result>(_ body: () throws -> Result) rethrows -> Result {
        let former = cdecoding_stop()
        cdecoding_set_stop(flag)
        defer {
            cdecoding_set_stop(former)
            withExtendedLifetime(self) {}
        }
        return try body()
    }
}
