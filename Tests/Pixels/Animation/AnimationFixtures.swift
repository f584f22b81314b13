import Foundation
import HalcyonTestKit
import Synchronization
import Testing

@testable import Halcyon
@testable import HalcyonPixels

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
