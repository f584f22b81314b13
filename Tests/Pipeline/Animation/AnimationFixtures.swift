import Foundation
import HalcyonTestKit
import Synchronization
import Testing

@testable import Halcyon
@testable import HalcyonPixels

/// Animations whose frame `i` is a gray of its own.
enum Grays {
    static func level(_ index: Int) -> UInt8 { UInt8(20 + index * 5) }

    static func grid(_ index: Int, width: Int = 8, height: Int = 6) -> PixelGrid {
        .solid(Pixel(gray: level(index)), width: width, height: height)
    }

    /// A GIF; each frame is shown for `delay` hundredths of a second.
    static func gif(_ count: Int, delay: Int = 10, width: Int = 8, height: Int = 6) -> Data {
        GIFFixture.data(
            (0..<count).map {
                GIFFixture.Frame(grid($0, width: width, height: height), delay: delay)
            }, loopCount: 0)
    }

    static func bitmap(_ index: Int, width: Int = 8, height: Int = 6) throws -> Bitmap {
        try Bitmap.drawn(width, height) { _, _ in [UInt8](repeating: level(index), count: 3) }
    }

    /// An animation of frames in memory, all of 0.1 seconds.
    static func image(_ count: Int) throws -> Image {
        try #require(
            Image(
                frames: (0..<count).map { try bitmap($0) },
                timing: AnimationTiming(
                    durations: [TimeInterval](repeating: 0.1, count: count), loopCount: 0)))
    }
}

extension Bitmap {
    /// The index of the gray frame this is.
    var grayIndex: Int { (Int(samples(0, 0)[0]) - 20) / 5 }
}

extension Image {
    var grayIndex: Int? { try? bitmap().grayIndex }
}

/// A source of gray frames that remembers what it was asked for.
final class SpyFrameSource: ImageFrameSource {
    let data: Data?
    let frameCount: Int
    let damaged: Set<Int>
    private let size: PixelSize
    private let asked = Mutex<[Int]>([])

    init(
        _ frameCount: Int, size: PixelSize = PixelSize(width: 8, height: 6), data: Data? = nil,
        damaged: Set<Int> = []
    ) {
        self.frameCount = frameCount
        self.size = size
        self.data = data
        self.damaged = damaged
    }

    /// The indices of all calls.
    var requests: [Int] { asked.withLock { $0 } }

    func duration(at index: Int) -> TimeInterval { 0.1 }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        asked.withLock { $0.append(index) }
        guard !damaged.contains(index) else { return nil }
        let longest = maxSize.map { Int(max($0.width, $0.height)) }
        let size = size.fitting(longestSide: longest)
        return try? Grays.bitmap(index, width: size.width, height: size.height)
    }
}

/// Jobs that run when a test says so.
final class HeldJobs: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])

    var count: Int { jobs.withLock { $0.count } }

    var scheduler: FrameBuffer.Scheduler {
        { job in self.jobs.withLock { $0.append(job) } }
    }

    /// Runs the oldest job; `false` when there is none.
    @discardableResult
    func runNext() -> Bool {
        let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        job?()
        return job != nil
    }

    func runAll() { while runNext() {} }
}
