import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct PixelSampleTests {
    @Test(arguments: PixelSample.all)
    func pixelsAreThoseOfOtherDecoders(_ sample: PixelSample) throws {
        let image = try Image.decoding(SampleFile.data(sample.file))
        if let checksum = sample.checksum {
            #expect(PNGFixture.checksum([UInt8](try image.bitmap().data)) == checksum)
            return
        }
        #expect(image.frameCount == sample.frames.count)
        for (index, frame) in sample.frames.enumerated() {
            let found = try image.bitmap(frame: index)
            let expected = try decoded(SampleFile.data(frame))
            try #require(found.size == expected.size)
            #expect(found.hasAlpha == expected.hasAlpha && found.depth == expected.depth)
            #expect(found.visibleDifference(from: expected) <= sample.tolerance, "frame \(index)")
        }
    }
}

extension Bitmap {
    /// The greatest difference of a sample, on the scale 0…255; what is transparent in both has no colour.
    fileprivate func visibleDifference(from other: Bitmap) -> Double {
        var greatest = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (a, b) = (self[x, y], other[x, y])
                if a.alpha == 0, b.alpha == 0 { continue }
                for (p, q) in [
                    (a.red, b.red), (a.green, b.green), (a.blue, b.blue), (a.alpha, b.alpha),
                ] { greatest = max(greatest, abs(p - q) * 255) }
            }
        }
        return greatest
    }
}
