import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct FrameBufferTests {
    private let frameBytes = 8 * 6 * 3
    private let jobs = HeldJobs()

    private func buffer(
        of source: SpyFrameSource, budget: Int = 10_000,
        resident: @escaping @Sendable (Int) -> Bitmap? = { _ in nil }
    ) -> FrameBuffer {
        FrameBuffer(
            source: source, bytesPerFrame: frameBytes, budget: budget, resident: resident,
            schedule: jobs.scheduler)
    }

    /// Viewers come and go, each tenth frame is damaged, and there may be room for fewer frames than viewers.
    @Test(arguments: 0..<40)
    func neverExceedsItsBudgetUnderRandomSeeking(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let count = Int.random(in: 1...45, using: &random)
        let room = Int.random(in: 0...20, using: &random)
        let damaged = (0..<count).filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
        let buffer = buffer(
            of: SpyFrameSource(count, damaged: Set(damaged)), budget: frameBytes * room + 7)
        var viewers: [FrameBuffer.ViewerID] = []
        for _ in 0..<400 {
            let position = Int.random(in: 0..<count, using: &random)
            let viewer = viewers.randomElement(using: &random)
            switch (Int.random(in: 0..<12, using: &random), viewer) {
            case (0, _) where viewers.count < 4:
                let lookahead = Int.random(in: 0...12, using: &random)
                viewers.append(buffer.join(at: position, lookahead: lookahead))
            case (1, let viewer?):
                viewers.removeAll { $0 == viewer }
                buffer.leave(viewer)
            case (2, let viewer?): buffer.purge(viewer, keepsPresent: .random(using: &random))
            case (3...4, let viewer?): buffer.seek(viewer, to: position)
            case (5...6, let viewer?): buffer.move(viewer, to: position)
            default: jobs.runNext()
            }
            let frames = buffer.contents.frames.count
            #expect(buffer.contents.byteCount == frames * frameBytes)
            #expect(jobs.count <= 1 && frames <= max(room, viewers.count, 1))
            // The share of a viewer that has left may be on its way.
            #expect(frames + jobs.count <= max(room, 4))
        }
    }

    @Test(arguments: [ImageFormat.GIF, .WebP, .PNG, .AVIF, .JPEGXL])
    func animationsOfEveryFormatKeepToTheBudget(_ format: ImageFormat) async throws {
        let (count, side) = (8, 64)
        let image = try #require(Image(data: Self.animation(format, count, side)))
        #expect(image.animation?.durations.count == count)
        let budget = side * side * 4 * 3
        let buffer = image.content.frameBuffer(FrameBuffers.Key(longestSide: nil, budget: budget))
        let viewer = buffer.join(at: 0, lookahead: count)
        for position in 0..<2 * count {
            buffer.move(viewer, to: position % count)
            while buffer.contents.frames[position % count] == nil, buffer.isLoading {
                await buffer.waitForLoad()
            }
            let contents = buffer.contents
            #expect(contents.frames[position % count]?.grayIndex == position % count)
            #expect(contents.byteCount <= budget)
        }
    }

    /// Frames of a gray of their own each.
    private static func animation(_ format: ImageFormat, _ count: Int, _ side: Int) throws -> Data {
        switch format {
        case .AVIF:
            return try AVIFFixture().data(
                (0..<count).map { Grays.grid($0, width: side, height: side) })
        case .JPEGXL:
            return try JPEGXLFixture(width: side, height: side).data(
                (0..<count).map { [Float](repeating: Float(Grays.level($0)) / 255, count: 3) })
        default:
            let gif = Grays.gif(count, width: side, height: side)
            guard format != .GIF else { return gif }
            return try Image.decoding(gif).kf.data(
                format: format, options: ImageEncodingOptions(isLossless: format == .WebP))
        }
    }

    @Test func takesFramesThatAreInMemoryAnywayAtOnce() throws {
        let spy = SpyFrameSource(4)
        let frame = try Grays.bitmap(0)
        let buffer = buffer(of: spy, resident: { $0 < 2 ? frame : nil })
        _ = buffer.join(at: 0, lookahead: 3)
        #expect(buffer.contents.frames.keys.sorted() == [0, 1])
        #expect(buffer.contents.frames[1]?.identity == frame.identity)
        jobs.runAll()
        #expect(spy.requests == [2, 3])
    }

    @Test func isSharedByPlayersOfOneImage() throws {
        let image = try #require(Image(data: Grays.gif(4)))
        let key = FrameBuffers.Key(longestSide: nil, budget: 1000)
        let buffer = image.content.frameBuffer(key)
        #expect(image.content.frameBuffer(key) === buffer)
        #expect(image.withScale(2).content.frameBuffer(key) === buffer)
        var other = key
        other.longestSide = 4
        #expect(image.content.frameBuffer(other) !== buffer)
        other = key
        other.budget = 99
        #expect(image.content.frameBuffer(other) !== buffer)
    }

    @Test func isFreedWithItsPlayersWhileAFrameIsOnItsWay() {
        let spy = SpyFrameSource(4)
        weak var freed: FrameBuffer?
        do {
            let buffer = buffer(of: spy)
            _ = buffer.join(at: 0, lookahead: 3)
            jobs.runNext()
            freed = buffer
        }
        #expect(freed == nil)
        #expect(jobs.count == 1)
        jobs.runAll()
        #expect(spy.requests == [0])
    }

    @Test func doesNotWaitWhenNothingIsOnItsWay() async {
        let buffer = buffer(of: SpyFrameSource(2))
        await buffer.waitForLoad()
        _ = buffer.join(at: 0, lookahead: 1)
        jobs.runAll()
        await buffer.waitForLoad()
        #expect(buffer.contents.frames.count == 2)
    }

    @Test func stopsWaitingWhenTheTaskIsCancelled() async {
        let buffer = buffer(of: SpyFrameSource(2))
        _ = buffer.join(at: 0, lookahead: 1)
        let waiting = Task { await buffer.waitForLoad() }
        waiting.cancel()
        await waiting.value
        #expect(buffer.isLoading)
    }
}
