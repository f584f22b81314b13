import CCodecs
import Dispatch
import Synchronization
import Vips

/// Stops decoding that exceeds its time limit or has no waiters left (``DecodingStop``).
///
/// Decoders of our own look at the clock of their thread between rows. Pipelines of libvips are cancelled
/// from another thread, by the images that their files were opened as.
final class DecodingWatch: Sendable {
    private struct Watched {
        let deadline: UInt64
        /// There for as long as the watch is registered.
        nonisolated(unsafe) let stop: OpaquePointer?
        var images: [VipsImage] = []

        var isOver: Bool {
            deadline <= cdecoding_now() || stop.map { cdecoding_is_stop_given($0) } ?? false
        }
    }

    private struct Registry {
        var watches: [ObjectIdentifier: Watched] = [:]
        /// Whether somebody looks at them from time to time.
        var isWatched = false
    }

    private let deadline: UInt64

    private static let registry = Mutex(Registry())
    private static let queue = DispatchQueue(label: "halcyon.decoding-watch")
    private static let interval = DispatchTimeInterval.milliseconds(100)

    private init(deadline: UInt64) {
        self.deadline = deadline
    }

    /// Runs `body` on this thread for `duration` at most; for as long as it takes if there is a watch
    /// already, which counts, or no `duration`.
    ///
    /// - Throws: `ImageCodingError.tooSlow`, or what `body` throws for another reason.
    static func run<Result>(_ duration: Duration?, _ body: () throws -> Result) throws -> Result {
        guard let duration, cdecoding_thread().pointee.deadline == 0 else { return try body() }
        let nanoseconds = UInt64(max(1, min(duration / .nanoseconds(1), 1e18)))
        let watch = DecodingWatch(deadline: cdecoding_now() + nanoseconds)
        cdecoding_thread().pointee.deadline = watch.deadline
        cdecoding_thread().pointee.watch = Unmanaged.passUnretained(watch).toOpaque()
        defer {
            cdecoding_thread().pointee.deadline = 0
            cdecoding_thread().pointee.watch = nil
            watch.end()
        }
        do {
            return try body()
        } catch  where cdecoding_is_late() {
            throw ImageCodingError.tooSlow(limit: duration)
        }
    }

    /// Has the thread's watch, if there is one, cancel `image`, from which a pipeline starts.
    static func add(_ image: VipsImage) {
        guard let watch = cdecoding_thread().pointee.watch else { return }
        Unmanaged<DecodingWatch>.fromOpaque(watch).takeUnretainedValue().add(image)
    }

    private func add(_ image: VipsImage) {
        let watched = Watched(deadline: deadline, stop: cdecoding_thread().pointee.stop)
        if watched.isOver { image.cancel() }
        let isWatched = Self.registry.withLock { registry in
            registry.watches[ObjectIdentifier(self), default: watched].images.append(image)
            defer { registry.isWatched = true }
            return registry.isWatched
        }
        if !isWatched { Self.lookLater() }
    }

    private func end() {
        // The images go when the lock has been released.
        _ = Self.registry.withLock { $0.watches.removeValue(forKey: ObjectIdentifier(self)) }
    }

    private static func lookLater() {
        queue.asyncAfter(deadline: .now() + interval) { look() }
    }

    /// Cancels late decoding, repeatedly, because an image without a waiting reader forgets the
    /// cancellation.
    private static func look() {
        let (images, goesOn) = registry.withLock { registry in
            registry.isWatched = !registry.watches.isEmpty
            let over = registry.watches.values.filter(\.isOver)
            return (over.flatMap(\.images), registry.isWatched)
        }
        for image in images { image.cancel() }
        if goesOn { lookLater() }
    }
}

/// Stops decoding that has no waiters left.
///
/// Our own decoders check it between rows, pipelines of libvips are cancelled within a tenth of a
/// second, and waiting for memory ends. Encoding runs to completion.
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

    package func give() {
        cdecoding_give_stop(flag)
        DecodingBudget.shared.wake()
    }

    package var isGiven: Bool { cdecoding_is_stop_given(flag) }

    /// Whether decoding under this stop is waiting for memory that other decoding holds.
    package var waitsForMemory: Bool { cdecoding_waits_for_memory(flag) }

    /// Runs `body` on this thread; decoding in it fails once the stop is given.
    package func watching<Result>(_ body: () throws -> Result) rethrows -> Result {
        let former = cdecoding_thread().pointee.stop
        cdecoding_thread().pointee.stop = flag
        defer {
            cdecoding_thread().pointee.stop = former
            withExtendedLifetime(self) {}
        }
        return try body()
    }
}
