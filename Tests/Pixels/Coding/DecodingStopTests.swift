import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Decoding that nobody waits for any longer.
struct DecodingStopTests {
    private static func data(_ format: ImageFormat) throws -> Data {
        let png = PNGFixture.data(.gradient(width: 300, height: 200), as: .rgb8)
        return try Image.decoding(png).encoded(as: format, options: ImageEncodingOptions())
    }

    @Test(arguments: [ImageFormat.JPEG, .PNG, .GIF, .TIFF])
    func decodingEndsAfterIt(format: ImageFormat) throws {
        let data = try Self.data(format)
        let stop = DecodingStop()
        _ = try stop.watching { try Image.decoding(data).bitmap() }
        stop.give()
        #expect(throws: ImageCodingError.self) {
            try stop.watching { try Image.decoding(data).bitmap() }
        }
        // Others on the same thread go on.
        let other = DecodingStop()
        _ = try other.watching { try Image.decoding(data).bitmap() }
        _ = try Image.decoding(data).bitmap()
        #expect(stop.isGiven && !other.isGiven)
    }

    /// The way of reduced JPEG files, which have a decoder of their own.
    @Test(arguments: [false, true])
    func reductionEndsAfterIt(isProgressive: Bool) throws {
        let grid = PixelGrid.gradient(width: 300, height: 200)
        let data = try grid.bitmap(channels: 3).vipsImage()
            .encoded("jpegsave_buffer", ["interlace": .bool(isProgressive)])
        func small() throws -> Bitmap { try decoded(data, at: PixelSize(60, 40)) }
        let stop = DecodingStop()
        _ = try stop.watching(small)
        stop.give()
        #expect(throws: ImageCodingError.self) { try stop.watching(small) }
        _ = try small()
    }

    @Test(arguments: [ImageFormat.JPEG, .PNG, .TIFF])
    func decodingThatIsUnderWayEnds(format: ImageFormat) async throws {
        let data = try Self.data(format)
        let stop = DecodingStop()
        let begun = Recorder<Void>()
        let ended = Recorder<Bool>()
        Thread.detachNewThread {
            let isStopped = stop.watching {
                for _ in 0..<1_000_000 {
                    do {
                        _ = try Image.decoding(data).bitmap()
                        begun.record(())
                    } catch {
                        return true
                    }
                }
                return false
            }
            ended.record(isStopped)
        }
        await begun.waitFor(count: 1)
        stop.give()
        #expect(await ended.waitFor(count: 1) == [true])
    }
}
