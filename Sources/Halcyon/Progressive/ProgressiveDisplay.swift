import Foundation
import HalcyonWork
import Synchronization

/// Shows the scans of one download to those of its callers who want to see them.
///
/// Decodes once for all of them, on the decoding pool, one picture at a time, and only while somebody
/// watches. A file that is damaged, or of another kind, is not shown; the decoding of the complete file
/// tells what is wrong with it.
final class ProgressiveDisplay: Sendable {
    private enum State {
        /// No bytes have come that anybody wants to see.
        case idle
        case running(AsyncStream<Void>.Continuation, Task<Void, Never>)
        case ended
    }

    private typealias Schedule = ProgressiveSchedule<ObjectIdentifier>

    private let task: SessionDataTask
    private let stopwatch: Stopwatch
    private let waiters: @Sendable () -> [DownloadWaiter]
    private let state = Mutex(State.idle)

    /// `waiters` tells who waits for the download at the moment.
    init(
        task: SessionDataTask, clock: any Clock<Duration>,
        waiters: @escaping @Sendable () -> [DownloadWaiter]
    ) {
        self.task = task
        stopwatch = Stopwatch(clock)
        self.waiters = waiters
    }

    /// Takes note that `task` has received bytes. Called on any thread.
    func bytesArrived() {
        guard task.hasViewers else { return }
        let arrivals: AsyncStream<Void>.Continuation? = state.withLock { state in
            switch state {
            case .ended:
                return nil
            case .running(let arrivals, _):
                return arrivals
            case .idle:
                let (stream, arrivals) = AsyncStream.makeStream(
                    of: Void.self, bufferingPolicy: .bufferingNewest(1))
                state = .running(arrivals, Task { await self.run(stream) })
                return arrivals
            }
        }
        arrivals?.yield()
    }

    /// Ends the display: nothing more is shown, not even what is on its way.
    func end() {
        let before = state.withLock { state in
            defer { state = .ended }
            return state
        }
        guard case .running(let arrivals, let work) = before else { return }
        arrivals.finish()
        work.cancel()
    }

    private var hasEnded: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    private func run(_ arrivals: AsyncStream<Void>) async {
        defer { end() }
        var schedule = Schedule()
        var started: ProgressiveJPEGDecoder?
        do {
            for await _ in arrivals {
                while !Task.isCancelled {
                    let viewers = currentViewers()
                    guard let limits = viewers.strictestLimits else { break }
                    let decoder = try started ?? ProgressiveJPEGDecoder(limits: limits)
                    started = decoder
                    guard try await advance(decoder, &schedule, viewers) else { break }
                }
            }
        } catch {
            // Not to be shown; or the display has been ended.
        }
    }

    /// Takes the bytes that have arrived, and shows the next picture.
    ///
    /// - Returns: Whether there may be more to do at once.
    private func advance(
        _ decoder: ProgressiveJPEGDecoder, _ schedule: inout Schedule, _ viewers: [DownloadWaiter]
    ) async throws -> Bool {
        let bytes = task.data(from: decoder.receivedCount)
        try await DecodingPool.shared.run { _ = try decoder.feed(bytes) }

        let wishes = viewers.compactMap { waiter in
            waiter.viewer.map {
                Schedule.Wish(
                    viewer: ObjectIdentifier(waiter.handle),
                    everyScan: !$0.progressive.isFastestScan, interval: $0.progressive.interval)
            }
        }
        let step = schedule.step(
            for: wishes, complete: decoder.followedScanCount, decoded: decoder.decodedScanCount,
            at: stopwatch.elapsed())
        switch step {
        case .nothing:
            return false
        case .wait(let duration):
            try await stopwatch.sleep(duration)
        case .show(let scan, let due):
            let bitmap = try await DecodingPool.shared.run {
                try decoder.decode(upTo: scan)
                return try decoder.bitmap()
            }
            for waiter in viewers where due.contains(ObjectIdentifier(waiter.handle)) {
                await show(bitmap, scans: decoder.begunScanCount, to: waiter)
                schedule.note(
                    scan, shownTo: ObjectIdentifier(waiter.handle), at: stopwatch.elapsed())
            }
        }
        return true
    }

    private func show(_ bitmap: Bitmap, scans: Int, to waiter: DownloadWaiter) async {
        guard let viewer = waiter.viewer,
            let image = await viewer.image(of: bitmap, scans: scans)
        else { return }
        let handle = waiter.handle
        await viewer.show(image) { !handle.isCancelled && !self.hasEnded }
    }

    /// Those who are to be shown something now.
    private func currentViewers() -> [DownloadWaiter] {
        waiters().filter { $0.viewer?.isWaiting ?? false && !$0.handle.isCancelled }
    }
}

extension [DownloadWaiter] {
    /// The least of what all allow; `nil` when nobody waits.
    fileprivate var strictestLimits: DecodingLimits? {
        guard var limits = first?.limits else { return nil }
        for other in dropFirst().map(\.limits) {
            limits.maximumPixelCount = least(limits.maximumPixelCount, other.maximumPixelCount)
            limits.maximumMemory = least(limits.maximumMemory, other.maximumMemory)
            limits.maximumDuration = least(limits.maximumDuration, other.maximumDuration)
        }
        return limits
    }

    private func least<Limit: Comparable>(_ one: Limit?, _ other: Limit?) -> Limit? {
        guard let one, let other else { return one ?? other }
        return Swift.min(one, other)
    }
}

/// Measures time from its start by any clock.
private struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }
}
