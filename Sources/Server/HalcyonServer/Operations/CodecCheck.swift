import Foundation
import HalcyonPixels
import HalcyonWork
import Synchronization

/// Whether pictures are decoded and encoded at all: tried out when somebody asks and the last trial was a while
/// ago. Who asks gets what is known, and does not wait.
final class CodecCheck: Sendable {
    private let schedule = Mutex(CheckSchedule())
    private let time: TimeSource
    private let trial: @Sendable () async -> Bool

    /// - Parameter trial: Whether it works.
    init(
        _ time: TimeSource,
        trial: @escaping @Sendable () async -> Bool = { await CodecCheck.works() }
    ) {
        self.time = time
        self.trial = trial
    }

    /// What is wrong, in one word; `nil` as far as is known.
    var fault: String? {
        let (fault, begins) = schedule.withLock { $0.look(at: time.now) }
        if begins {
            Task {
                let works = await trial()
                schedule.withLock { $0.end(works: works) }
            }
        }
        return fault
    }

    /// Writes a tiny picture and reads it again, in its turn among all others.
    private static func works() async -> Bool {
        await DecodingPool.shared.run {
            // What fails does not work, whatever the reason.
            (try? CodecWarmUp.circle(.PNG)) != nil
        }
    }
}

/// When to try, and what the trials say.
struct CheckSchedule {
    /// From one trial to the next, and how long one may take.
    static let interval = Duration.seconds(60)

    private var begun: ContinuousClock.Instant?
    private var isRunning = false
    private var hasFailed = false

    /// - Returns: What is wrong, and whether a trial is to begin.
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

/// Loads the codecs before the first picture is wanted, once in a process.
enum CodecWarmUp {
    private static let task = Task {
        await DecodingPool.shared.run {
            // A format that cannot be written tells so when it is asked for.
            for format in ImageFormat.writable { try? circle(format) }
        }
    }

    static func finish() async { await task.value }

    /// Writes a picture of 16 × 16 pixels and reads it again.
    static func circle(_ format: ImageFormat) throws {
        let size = PixelSize(width: 16, height: 16)
        guard let bitmap = Bitmap(pixels: Data(repeating: 128, count: 768), size: size, channels: 3)
        else { return }
        let data = try Image(bitmap: bitmap).encoded(as: format, options: ImageEncodingOptions())
        _ = try Image.decoding(data).bitmap()
    }
}
