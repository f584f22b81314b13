import Dispatch
import HalcyonWork
import Synchronization

/// Shows the scans of one download to those of its callers that display them.
///
/// Decodes once for all of them, on the decoding pool, one picture at a time, and only while there
/// are viewers. A damaged file, or one of another format, is not shown; decoding the complete file
/// reports the error.
///
/// Not a `WorkTable`: a viewer gets each picture until the download ends, not one result.
final class ProgressiveDisplay: Sendable {
    private enum State {
        /// No bytes have arrived while there were viewers.
        case idle
        case running(AsyncStream<Void>.Continuation, Task<Void, Never>)
        case ended
    }

    private typealias Schedule = ProgressiveSchedule<ObjectIdentifier>

    private let task: SessionDataTask
    private let time: TimeSource
    private let start: ContinuousClock.Instant
    private let state = Mutex(State.idle)

    init(_ task: SessionDataTask, time: TimeSource) {
        self.task = task
        self.time = time
        start = time.now
    }

    /// Notes that `task` has received bytes. Called on any thread.
    func bytesArrived() {
        guard task.has(.pictures) else { return }
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

    /// Ends the display: nothing more is shown, including pictures in preparation.
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
            // The file cannot be shown, or the display has ended.
        }
    }

    /// Feeds the received bytes to the decoder and shows the next picture; returns whether more may be left
    /// to do at once.
    private func advance(
        _ decoder: ProgressiveJPEGDecoder, _ schedule: inout Schedule, _ viewers: [DownloadWaiter]
    ) async throws -> Bool {
        let bytes = task.data(in: decoder.receivedCount..<Int.max)
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
            at: time.now - start)
        switch step {
        case .nothing:
            return false
        case .wait(let duration):
            try await time.sleep(for: duration)
        case .show(let scan, let due):
            let bitmap = try await DecodingPool.shared.run {
                try decoder.decode(upTo: scan)
                return try decoder.bitmap()
            }
            for waiter in viewers where due.contains(ObjectIdentifier(waiter.handle)) {
                await show(bitmap, scans: decoder.begunScanCount, to: waiter)
                schedule.note(
                    scan, shownTo: ObjectIdentifier(waiter.handle), at: time.now - start)
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

    private func currentViewers() -> [DownloadWaiter] {
        task.callers().filter { $0.viewer?.isWaiting ?? false && !$0.handle.isCancelled }
    }
}

extension [DownloadWaiter] {
    /// The smallest limits of all waiters; `nil` without waiters.
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

/// Decides which scans of a progressive JPEG are shown to which viewers, and when.
///
/// A pure value; times are durations since any fixed moment.
struct ProgressiveSchedule<Viewer: Hashable> {
    struct Wish {
        let viewer: Viewer
        /// Whether each scan is shown, rather than always the latest one.
        let everyScan: Bool
        /// The minimum time between two scans.
        let interval: Duration
    }

    enum Step: Equatable {
        /// Nothing before more bytes arrive.
        case nothing
        /// Ask again after this duration.
        case wait(Duration)
        /// Decode up to the end of a scan, counted from 1, and show it.
        case show(scan: Int, to: [Viewer])
    }

    private struct Shown: Sendable {
        let scan: Int
        let time: Duration
    }

    private var shown: [Viewer: Shown] = [:]

    init() {}

    /// Returns the next step when `complete` scans have arrived and `decoded` of them are decoded.
    ///
    /// Decoding cannot go back: if any viewer wants each scan, all viewers wait until that one is
    /// due for the next.
    func step(for wishes: [Wish], complete: Int, decoded: Int, at time: Duration) -> Step {
        let everyScan = wishes.contains { $0.everyScan }
        let scan = everyScan ? min(complete, decoded + 1) : complete
        let open = wishes.filter { (shown[$0.viewer]?.scan ?? 0) < scan }
        guard !open.isEmpty else { return .nothing }

        if let longest = open.filter({ $0.everyScan }).map({ wait(of: $0, at: time) }).max(),
            longest > .zero
        {
            return .wait(longest)
        }
        let due = open.filter { wait(of: $0, at: time) <= .zero }
        if due.isEmpty, let shortest = open.map({ wait(of: $0, at: time) }).min() {
            return .wait(shortest)
        }
        return .show(scan: scan, to: due.map(\.viewer))
    }

    mutating func note(_ scan: Int, shownTo viewer: Viewer, at time: Duration) {
        shown[viewer] = Shown(scan: scan, time: time)
    }

    private func wait(of wish: Wish, at time: Duration) -> Duration {
        shown[wish.viewer].map { $0.time + wish.interval - time } ?? .zero
    }
}

/// Shows a picture, or nothing, in the place of a request's image. Called on the main queue.
typealias ProgressiveConsumer = @Sendable (_ image: KFCrossPlatformImage?) -> Void

/// A request that shows a progressive JPEG during its download.
struct ProgressiveViewer: Sendable {
    let progressive: ImageProgressive
    private let options: KingfisherParsedOptionsInfo
    private let isCurrent: (@Sendable () -> Bool)?
    private let consumer: ProgressiveConsumer

    /// - Parameters:
    ///   - options: The options of the request; `isCurrent` is `nil` for one that always waits.
    ///   - consumer: Shows the pictures in place of the request's image.
    init(
        _ progressive: ImageProgressive, options: KingfisherParsedOptionsInfo,
        isCurrent: (@Sendable () -> Bool)?, consumer: @escaping ProgressiveConsumer
    ) {
        self.progressive = progressive
        self.options = options
        self.isCurrent = isCurrent
        self.consumer = consumer
    }

    var isWaiting: Bool { isCurrent?() ?? true }

    /// Makes this request's picture from `bitmap`, which shows `scans` scans, the last of them perhaps in
    /// part; returns the rendered image, or `nil` if the processor returns none.
    func image(of bitmap: Bitmap, scans: Int) async -> Image? {
        var image = Image(bitmap: bitmap)
        if let radius = progressive.blurRadius(scans: scans) {
            image = image.kf.blurred(withRadius: radius)
        }
        // A failing processor will fail again with the complete image, and be reported then.
        return try? await ImageProcessItem.image(image).processed(options)
    }

    /// Shows `image` on the main queue if it is still wanted there; returns afterwards.
    func show(_ image: Image, while isWanted: @escaping @Sendable () -> Bool) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                if isWaiting, isWanted() { update(image) }
                continuation.resume()
            }
        }
    }

    private func update(_ image: Image) {
        switch progressive.onImageUpdated(image) ?? .default {
        case .default: consumer(image)
        case .keepCurrent: break
        case .replace(let other): consumer(other)
        }
    }
}
