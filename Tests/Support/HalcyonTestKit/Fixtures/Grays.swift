package import Foundation
package import HalcyonPixels
import Testing

/// Animations whose frame `i` is a gray of its own.
package enum Grays {
    package static func level(_ index: Int) -> UInt8 { UInt8(20 + index * 5) }

    package static func grid(_ index: Int, width: Int = 8, height: Int = 6) -> PixelGrid {
        .solid(Pixel(gray: level(index)), width: width, height: height)
    }

    /// A GIF; each frame is shown for `delay` hundredths of a second.
    package static func gif(_ count: Int, delay: Int = 10, width: Int = 8, height: Int = 6) -> Data
    {
        GIFFixture.data(
            (0..<count).map {
                GIFFixture.Frame(grid($0, width: width, height: height), delay: delay)
            }, loopCount: 0)
    }

    package static func bitmap(_ index: Int, width: Int = 8, height: Int = 6) throws -> Bitmap {
        try Bitmap.drawn(width, height) { _, _ in [UInt8](repeating: level(index), count: 3) }
    }

    /// An animation of frames in memory, all of 0.1 seconds.
    package static func image(_ count: Int) throws -> Image {
        try #require(
            Image(
                frames: (0..<count).map { try bitmap($0) },
                timing: AnimationTiming(
                    durations: [TimeInterval](repeating: 0.1, count: count), loopCount: 0)))
    }
}
