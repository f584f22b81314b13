import Foundation
import HalcyonPixels
import HalcyonWork
import Synchronization

/// Checks that pictures can be decoded and encoded. A trial begins when the result is requested and
/// the last trial was a while ago; the request returns the known result without waiting.
final class CodecCheck: Sendable {
    private let schedule = Mutex(CheckSchedule())
    private let time: TimeSource
    private let trial: @Sendable () async -> Bool

    init(
        _ time: TimeSource,
        trial: @escaping @Sendable () async -> Bool = { await CodecCheck.works() }
    ) {
        self.time = time
        self.trial = trial
    }

    /// The known fault in one word; `nil` without one.
    var fault: String? { look().fault }

    /// - Returns: The known fault, and the trial if one has begun.
    func look() -> (fault: String?, trial: Task<Void, Never>?) {
        let (fault, begins) = schedule.withLock { $0.look(at: time.now) }
        guard begins else { return (fault, nil) }
        let running = Task {
            let works = await trial()
            schedule.withLock { $0.end(works: works) }
        }
        return (fault, running)
    }

    /// Encodes and decodes a tiny picture, in its turn among all others.
    private static func works() async -> Bool {
        await DecodingPool.shared.run {
            // Any failure counts, whatever the reason.
            (try? CodecWarmUp.circle(.PNG)) != nil
        }
    }
}

struct CheckSchedule {
    /// The interval between trials, and the longest time for one.
    static let interval = Duration.seconds(60)

    private var begun: ContinuousClock.Instant?
    private var isRunning = false
    private var hasFailed = false

    /// - Returns: The fault, if any, and whether a trial is to begin.
    mutating func look(at now: ContinuousClock.Instant) -> (fault: String?, begins: Bool) {
        let isOld = begun.map { now - $0 >= Self.interval } ?? true
        if isRunning { return (isOld ? "decoding_stuck" : fault, false) }
        if isOld { (begun, isRunning) = (now, true) }
        return (fault, isOld)
    }

    mutating func end(works: Bool) {
        isRunning = false
        hasFailed = !works
    }

    private var fault: String? { hasFailed ? "decoding_failed" : nil }
}

/// Loads the codecs before the first request for a picture, once in a process.
enum CodecWarmUp {
    private static let task = Task {
        await DecodingPool.shared.run {
            // A format that cannot be written reports so when it is requested.
            for format in ImageFormat.writable { try? circle(format) }
        }
    }

    static func finish() async { await task.value }

    /// Encodes a picture of 16 × 16 pixels and decodes it again.
    static func circle(_ format: ImageFormat) throws {
        let size = PixelSize(width: 16, height: 16)
        guard let bitmap = Bitmap(pixels: Data(repeating: 128, count: 768), size: size, channels: 3)
        else { return }
        let data = try Image(bitmap: bitmap).encoded(as: format, options: ImageEncodingOptions())
        _ = try Image.decoding(data).bitmap()
    }
}
